import { type CredentialMask, createCredentialMask } from '#lib/core/relay/credential-mask';
import { createUsageFilter } from '#lib/core/relay/usage-filter';

/**
 * What the client gets of a provider's bytes: they are untouched but for usage that the gateway asked for itself
 * (contract: body/include-usage), and for the provider's credential in answers that are not 2xx
 * (contract: request/masked-credential).
 */
export interface Tap {
  /** @returns the pieces that may go to the client now. */
  push(chunk: Uint8Array): readonly Uint8Array[];
  /** The stream ended well: what was still held back. A broken one's unfinished event is dropped. */
  end(): readonly Uint8Array[];
  /** The last bytes handed out, which show whether the last event is finished. */
  tail(): Uint8Array;
}

const TAIL_BYTES = 4;

export interface TapOptions {
  /** Take the usage that was asked for out of an SSE stream. */
  readonly removeUsage: boolean;
  /** The credential to overwrite, in an answer that is not 2xx; null: the bytes stay as they are. */
  readonly mask: string | null;
}

export function createTap({ removeUsage, mask }: TapOptions): Tap {
  return new FilteringTap(mask === null ? filterOf(removeUsage) : maskOf(mask));
}

/** What changes the bytes on their way to the client. */
interface Filter {
  push(chunk: Uint8Array): readonly Uint8Array[];
  flush(): readonly Uint8Array[];
}

function filterOf(removeUsage: boolean): Filter | null {
  return removeUsage ? createUsageFilter() : null;
}

function maskOf(credential: string): Filter | null {
  const mask: CredentialMask | null = createCredentialMask(credential);
  return mask && { push: (chunk) => pieceOf(mask.push(chunk)), flush: () => pieceOf(mask.end()) };
}

const nothing = new Uint8Array();

function pieceOf(bytes: Uint8Array): readonly Uint8Array[] {
  return bytes.length === 0 ? none : [bytes];
}

class FilteringTap implements Tap {
  readonly #filter: Filter | null;
  /** The newest piece handed out, together with what came before where it is too short for a tail. */
  #last: Uint8Array = nothing;

  constructor(filter: Filter | null) {
    this.#filter = filter;
  }

  push(chunk: Uint8Array): readonly Uint8Array[] {
    return this.#seen(this.#filter ? this.#filter.push(chunk) : [chunk]);
  }

  end(): readonly Uint8Array[] {
    return this.#filter ? this.#seen(this.#filter.flush()) : none;
  }

  tail(): Uint8Array {
    return this.#last.subarray(-TAIL_BYTES);
  }

  #seen(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
    for (const piece of pieces) {
      if (piece.length >= TAIL_BYTES) this.#last = piece;
      else if (piece.length > 0) this.#last = Buffer.concat([this.tail(), piece]);
    }
    return pieces;
  }
}

const none: readonly Uint8Array[] = [];
