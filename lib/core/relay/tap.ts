import { createCredentialMask } from '#lib/core/relay/credential-mask';
import { UsageFilter } from '#lib/core/relay/usage-filter';

const TAIL_BYTES = 4;

/** What changes the bytes on their way to the client. */
interface Filter {
  push(chunk: Uint8Array): readonly Uint8Array[];
  flush(): readonly Uint8Array[];
}

interface TapOptions {
  /** Remove the usage that the gateway asked for from an SSE stream. */
  readonly removeUsage: boolean;
  /** The credential to overwrite, in an answer that is not 2xx; null: the bytes stay as they are. */
  readonly mask: string | null;
}

/**
 * What the client gets of a provider's bytes: they are untouched but for usage that the gateway asked for itself
 * (contract: body/include-usage), and for the provider's credential in answers that are not 2xx
 * (contract: request/masked-credential).
 */
export class Tap {
  readonly #filter: Filter | null;
  /** The newest piece handed out, together with what came before if it is too short for a tail. */
  #last: Uint8Array = new Uint8Array();

  constructor({ removeUsage, mask }: TapOptions) {
    const usageFilter = removeUsage ? new UsageFilter() : null;
    this.#filter = mask === null ? usageFilter : createCredentialMask(mask);
  }

  /** @returns the pieces that may go to the client now. */
  push(chunk: Uint8Array): readonly Uint8Array[] {
    return this.#seen(this.#filter ? this.#filter.push(chunk) : [chunk]);
  }

  /** The stream ended well: what was still held back. A broken stream's unfinished event is dropped. */
  end(): readonly Uint8Array[] {
    return this.#filter ? this.#seen(this.#filter.flush()) : none;
  }

  /** The last bytes handed out, which show whether the last event is finished. */
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
