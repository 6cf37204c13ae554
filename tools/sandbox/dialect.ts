import type { ProviderMemory } from '#tools/sandbox/content/memory';
import type { PrefixCache } from '#tools/sandbox/content/prefix-cache';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';
import type { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** A request as the simulated provider received it. */
export interface ReceivedRequest {
  /** The provider's request id. */
  readonly id: string;
  readonly method: string;
  /** After the versioned root: "/chat/completions". */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly atMs: number;
}

/** What a fair provider would charge for. */
export interface Truth {
  readonly inputTokens: number;
  /** Part of the input. */
  readonly cachedTokens: number;
  /** Part of the input. */
  readonly cacheWriteTokens: number;
  /** All of the answer, reasoning included, if nothing stops it. */
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly serviceTier: string | null;
  /** Of a request that began a job: its id, and the seconds of video to charge when it has ended. */
  readonly job?: string;
  readonly videoSeconds?: number;
  /** Pictures made. */
  readonly images?: number;
  /** Text spoken, and audio made or heard. */
  readonly characters?: number;
  readonly audioMs?: number;
}

/** One event of a stream. */
export interface Frame {
  /** The `event:` line; null: none. */
  readonly name: string | null;
  readonly data: string;
  /** Contains output: what `@N` counts. */
  readonly content: boolean;
  /** Output tokens that were generated for it. */
  readonly tokens: number;
  /** The usage that it reports; undefined: none. */
  readonly usage?: unknown;
}

/** A job that has only begun is free, and so is reading what is stored. */
export const freeOfCharge: Truth = {
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  serviceTier: null,
};

export interface Answer {
  readonly truth: Truth;
  /** Default: 200. Only for whole bodies and bytes. */
  readonly status?: number;
  /** Besides those that every answer has: content-range, location. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A whole JSON body with the usage in it, the events of a stream, or bytes of any kind. */
  readonly content:
    | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly type: string }
    | {
        readonly kind: 'flow';
        /** null: it is sent in chunks. */
        readonly length: number | null;
        readonly type: string;
        readonly pieces: Iterable<Buffer>;
      }
    | { readonly kind: 'whole'; readonly text: string; readonly usage: unknown }
    | {
        readonly kind: 'stream';
        readonly frames: Iterable<Frame>;
        /** The elements of one JSON array; absent: SSE events. */
        readonly framing?: 'array';
      };
}

/** A whole JSON answer. @param usage the one in the body, if any. */
export function whole(body: object, usage: unknown = null, truth: Truth = freeOfCharge): Answer {
  return { truth, content: { kind: 'whole', text: JSON.stringify(body), usage } };
}

/** An event without output. */
export function plainFrame(name: string | null, body: object): Frame {
  return { name, data: JSON.stringify(body), content: false, tokens: 0 };
}

/** A request understood by its family, before anything is decided about it. */
export interface Opened {
  readonly model: string;
  readonly stream: boolean;
  /** Text that may carry a directive. */
  readonly prompt: string;
  /**
   * The name that decides what happens to the request, if that is neither the prompt's directive nor the model:
   * see `keptName` for requests on something stored, whose `model` is the one that made it.
   */
  readonly asked?: string;
  /** @throws ProviderFault if the request does not fit the model. */
  answer(base: string, behaviour: Behaviour): Answer;
}

/** One protocol family of the simulated provider: one file each. */
export interface Dialect {
  readonly id: string;
  /** The header that carries the credential; absent: a bearer token. */
  readonly keyHeader?: 'x-api-key' | 'x-goog-api-key';
  /** Line ending of its event streams; LF when absent. */
  readonly newline?: '\r\n';
  /** Its 400 for an API key that does not exist; absent: another vendor's. */
  readonly invalidKeyBody?: string;
  handles(method: string, path: string, headers: Readonly<Record<string, string>>): boolean;
  /**
   * Opens any request that it handles: those that create something, and those that read, list, cancel or
   * delete what is stored in the memory.
   * @throws ProviderFault 400 for a body that the family does not understand, 404 for an unknown id.
   */
  open(seen: ReceivedRequest, cache: PrefixCache, memory: ProviderMemory): Opened;
  errorBody(fault: ProviderFault): string;
  errorEvent(fault: ProviderFault): Frame;
}
