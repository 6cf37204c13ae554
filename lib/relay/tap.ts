import type { Meter } from '#lib/metering/meter';
import { createUsageFilter } from '#lib/relay/usage-filter';

/**
 * Where the client's bytes and the meter part: the meter sees every byte, the client gets them
 * untouched but for the one usage event that the gateway asked for itself (decisions §4).
 */
export interface Tap {
  /** @returns the pieces that may go to the client now. */
  push(chunk: Uint8Array): readonly Uint8Array[];
  /** The stream ended well: what was still held back. A broken one's unfinished event is dropped. */
  end(): readonly Uint8Array[];
  /** The last piece carried usage, the family's own end or an error. */
  terminal(): boolean;
  failed(): boolean;
  /** Events seen so far. */
  events(): number;
  /** The last bytes handed out, to tell whether the last event is finished. */
  tail(): Uint8Array;
}

const TAIL_BYTES = 4;

/** @param options removeUsage: drop the injected usage event of an SSE stream. */
export function createTap(meter: Meter | null, options: { readonly removeUsage: boolean }): Tap {
  const filter = options.removeUsage ? createUsageFilter() : null;
  let tail: Uint8Array = new Uint8Array();
  const seen = (pieces: readonly Uint8Array[]): readonly Uint8Array[] => {
    for (const piece of pieces) {
      if (piece.length >= TAIL_BYTES) tail = piece.subarray(-TAIL_BYTES);
      else if (piece.length > 0) tail = Buffer.concat([tail, piece]).subarray(-TAIL_BYTES);
    }
    return pieces;
  };
  return {
    push: (chunk) => {
      meter?.push(chunk);
      return seen(filter ? filter.push(chunk) : [chunk]);
    },
    end: () => seen(filter ? filter.flush() : []),
    terminal: () => meter?.terminalInLastPush() ?? false,
    failed: () => meter?.failed() ?? false,
    events: () => meter?.events() ?? 0,
    tail: () => tail,
  };
}
