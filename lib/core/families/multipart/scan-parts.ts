import { isUtf8 } from 'node:buffer';
import { MAX_TEXT_BYTES, type Part } from '#lib/core/families/multipart/finder';
import { fieldNamed } from '#lib/core/families/multipart/names';
import type { FieldSpec, Found, Scan, ScanFault, Upload, UploadedFile } from '#lib/core/families/scan';
import type { Rule } from '#lib/core/families/scan/spec';
import { numberEnd } from '#lib/core/families/scan/text';

const nothing = new Uint8Array();

/**
 * The same view of a multipart body as of a JSON one: each text part that the operation reads is a found
 * value, whose range is that of its bare text in the body (contract: body/multipart). Of other parts only
 * sums are kept, and what files are.
 */
export class PartScan {
  readonly #spec: FieldSpec;
  readonly #found = new Map<string, Found>();
  readonly #files: UploadedFile[] = [];
  #textBytes = 0;
  #count = 0;

  constructor(spec: FieldSpec) {
    this.#spec = spec;
  }

  /** Takes the next part. @returns what is wrong with it, or null. */
  take(part: Part): ScanFault | null {
    this.#count += 1;
    const { name, filename, mediaType, start, end } = part;
    if (filename === null) this.#textBytes += end - start;
    else this.#files.push({ mediaType, bytes: end - start, field: name, start });
    const rule = fieldNamed(this.#spec, name);
    if (rule === null) return null;
    if (typeof rule === 'string') return this.#fault(rule);
    if (rule.part === 'file' && filename !== null) return null;
    const fault = unreadable(part, rule);
    if (fault !== null) return this.#fault(fault);
    if (this.#found.has(rule.path)) return { fault: `The body has part "${name}" twice; send it once.` };
    this.#found.set(rule.path, foundIn(part, rule));
    return null;
  }

  /** The body is over. @param bytes of all of it. @param read gives its bytes again. */
  end(bytes: number, read: Upload['read']): Scan {
    return {
      body: nothing,
      root: { start: 0, end: 0, empty: true },
      found: this.#found,
      nulls: new Map(),
      collected: [],
      longStrings: [],
      upload: { bytes, textBytes: this.#textBytes, files: this.#files, read },
    };
  }

  #fault(what: string): ScanFault {
    return { fault: `Part ${this.#count} of the body ${what}.` };
  }
}

/** Why a part that the operation reads cannot be read; null: it can. */
function unreadable({ name, filename, mediaType, plain, text }: Part, rule: Rule): string | null {
  if (rule.part === 'file') return `("${name}") is not a file; send a file, or its members as "${name}[…]"`;
  if (filename !== null) return `is a file, but "${name}" is a text field; send it without a filename`;
  if (text === null) return `("${name}") is over ${MAX_TEXT_BYTES / 1024} KiB; send a shorter value`;
  const isText = mediaType === null || mediaType === 'application/json' || mediaType.startsWith('text/');
  return isText && plain && isUtf8(text)
    ? null
    : `("${name}") is not plain UTF-8 text; send it as plain text`;
}

function foundIn({ name, text, start, end }: Part, rule: Rule): Found {
  const said = text?.toString('utf8') ?? '';
  const value = readValue(said, rule);
  const type = typeof value === 'string' ? 'string' : typeof value === 'number' ? 'number' : 'boolean';
  return { path: rule.path, spelling: name, type, value, start, end, empty: false, bare: true };
}

/** Numbers and booleans by value; whatever is not spelled as JSON spells them stays a text. */
function readValue(said: string, { part }: Rule): string | number | boolean {
  if (part === 'boolean' && (said === 'true' || said === 'false')) return said === 'true';
  if (part !== 'number' || said === '') return said;
  const bytes = Buffer.from(said);
  return numberEnd(bytes, 0, bytes.length) === bytes.length ? Number(said) : said;
}
