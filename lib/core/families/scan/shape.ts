/** Names that the gateway reads in one object. Keys are canonical names. */
export interface FieldSpec {
  readonly [name: string]: FieldRule;
}

export interface FieldRule {
  /** Other spellings of the same field, counted together with the name (`generation_config`). */
  readonly aliases?: readonly string[];
  /** Guarded names inside it when it is an object. */
  readonly fields?: FieldSpec;
  /** What to read in each element of an array of objects; leaves are collected, not guarded. */
  readonly each?: FieldSpec;
  /**
   * Called at the end of each element in which `each` has found values; returns those to keep. They are followed by
   * an entry for the element itself ("input[]"), unless none is kept.
   */
  readonly elements?: (found: readonly Found[]) => readonly Found[];
  /** It is a list of strings, each of which is collected ("file_ids[]"). */
  readonly strings?: true;
  /** Under `each`, collects only strings that match, because a body may hold millions of others. */
  readonly only?: RegExp;
  /**
   * Guards a name under `each` too: a nested model name may occur once in its element (contract: body/guarded-names).
   */
  readonly guarded?: boolean;
  /**
   * What the text of a multipart part of this name is read as; absent: a text. `file`: the object itself
   * comes as a file, which is not read.
   */
  readonly part?: 'number' | 'boolean' | 'file';
  /** Only its presence matters: its value, which may have many megabytes, is not decoded. */
  readonly unread?: boolean;
}

export type JsonType = 'string' | 'number' | 'object' | 'array' | 'boolean' | 'null';

/** A value in the body. Byte offsets; `end` is exclusive. */
export interface Found {
  /** Canonical path: "stream_options.include_usage"; inside arrays "tools[].type". */
  readonly path: string;
  /** The key as the client spelled it, unescaped. */
  readonly spelling: string;
  readonly type: JsonType;
  /** Parsed value of a string, number or boolean; null for the rest. */
  readonly value: string | number | boolean | null;
  readonly start: number;
  readonly end: number;
  /** Of an object: whether it has no member (an insertion then needs no comma). */
  readonly empty: boolean;
  /** The text of a multipart part: what replaces it is written bare, not as JSON. */
  readonly bare?: boolean;
}

/** A string of over 1 KiB: perhaps inline media. */
export interface LongString {
  readonly start: number;
  readonly end: number;
  /** Its key, "" in an array. */
  readonly key: string;
  /** Media type: of its data URL, else what a sibling `media_type`, `mime_type`, `mimeType` or `format` says. */
  readonly mediaType: string | null;
  /** Whether all of it (after a data URL's comma) is base64. */
  readonly base64: boolean;
}

/** A multipart body, which is in a file; every position in its scan is an offset in that file. */
export interface Upload {
  readonly bytes: number;
  /** Bytes of its text parts, and what its files weigh. */
  readonly textBytes: number;
  readonly files: readonly UploadedFile[];
  /** How long the audio of `Operation.listensTo` is, ms; null: its file does not say; absent: not looked at. */
  readonly audioMs?: number | null;
  /** Reads the bytes [start, end) of the file, piece by piece, as often as asked. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

export interface UploadedFile {
  /** Lower case; null: the part names none. */
  readonly mediaType: string | null;
  readonly bytes: number;
  /** The name of its part. */
  readonly field: string;
  /** Offset in the body. */
  readonly start: number;
}

export interface Scan {
  /** The JSON body; empty for an upload, and once `dropBody` has run. */
  body: Uint8Array;
  /** The root object. */
  readonly root: { readonly start: number; readonly end: number; readonly empty: boolean };
  /** Guarded values by canonical path; a value of `null` is left out (null is the same as absent). */
  readonly found: ReadonlyMap<string, Found>;
  /** Guarded names with an explicit null: replaced in place when something is injected. */
  readonly nulls: ReadonlyMap<string, Found>;
  /** Values under `each`, in order, at most 50,000. Only `Family.readAsk` needs them. */
  collected: readonly Found[];
  /** All strings of over 1 KiB; only `Family.readAsk` needs them. */
  longStrings: readonly LongString[];
  /** The body if it is multipart; absent: it is `body`. */
  readonly upload?: Upload;
}

/** Why a body cannot be taken: one sentence for `invalid_body`. */
export interface ScanFault {
  readonly fault: string;
}
