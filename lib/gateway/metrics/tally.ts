import type { ErrorCode } from '#lib/core/errors';
import { ModelTally } from '#lib/gateway/metrics/model-tally';
import { type CallRecord, type EndReason, endReasons } from '#lib/gateway/settlement/pure/entry';

/** Upper bounds of the overhead's buckets, ms; one more bucket takes what is above. */
export const overheadBoundsMs = [0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 1_000] as const;

/** The hundreds of a status; `other` is none of HTTP's. */
const statusClasses = ['other', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** What calls are counted by. */
interface Operation {
  readonly family: string;
  readonly name: string;
}

/** What a WebSocket is for: Responses, or sessions of the Realtime API. */
export type SocketKind = 'responses' | 'realtime';

/** How many calls ended alike. */
export interface CallCount {
  readonly family: string;
  readonly operation: string;
  readonly status: (typeof statusClasses)[number];
  readonly endReason: EndReason;
  readonly count: number;
}

/**
 * Totals of the calls of this process since its start. Counted at the end of every call: plain
 * cells that are found by position, because a metrics library's labels would cost a microsecond there.
 */
export class Tally {
  /** By provider and model. */
  readonly models = new ModelTally();
  /** Open WebSockets, by what they are for. */
  readonly sockets: Record<SocketKind, number> = { responses: 0, realtime: 0 };
  readonly #calls = new Map<Operation, Float64Array>();
  readonly #turnedAway = new Map<ErrorCode, number>();
  readonly #overhead = new Float64Array(overheadBoundsMs.length + 1);
  #overheadSumMs = 0;

  /** A call whose row goes to the call log. */
  ended(operation: Operation, call: CallRecord): void {
    const { status, endReason, overheadMs } = call;
    this.models.ended(call);
    const cells = this.#calls.get(operation) ?? this.#open(operation);
    const at = statusAt(status) * endReasons.length + endReasons.indexOf(endReason);
    cells[at] = (cells[at] ?? 0) + 1;
    let bucket = 0;
    while (overheadMs > (overheadBoundsMs[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    this.#overhead[bucket] = (this.#overhead[bucket] ?? 0) + 1;
    this.#overheadSumMs += overheadMs;
  }

  /** A call that leaves no row: no key of ours, or nothing that could keep books. */
  turnedAway(code: ErrorCode): void {
    this.#turnedAway.set(code, (this.#turnedAway.get(code) ?? 0) + 1);
  }

  /** Counts that are not 0. Copies of an operation in Next's bundles give lines of the same name. */
  calls(): CallCount[] {
    return [...this.#calls].flatMap(([{ family, name: operation }, cells]) =>
      statusClasses.flatMap((status, row) =>
        endReasons.flatMap((endReason, column) => {
          const count = cells[row * endReasons.length + column] ?? 0;
          return count > 0 ? [{ family, operation, status, endReason, count }] : [];
        }),
      ),
    );
  }

  refusals(): [ErrorCode, number][] {
    return [...this.#turnedAway];
  }

  /** Calls a bucket, each without those of the smaller ones, and the sum of all, ms. */
  overhead(): { readonly buckets: readonly number[]; readonly sumMs: number } {
    return { buckets: [...this.#overhead], sumMs: this.#overheadSumMs };
  }

  #open(operation: Operation): Float64Array {
    const cells = new Float64Array(statusClasses.length * endReasons.length);
    this.#calls.set(operation, cells);
    return cells;
  }
}

function statusAt(status: number): number {
  const hundreds = Math.floor(status / 100);
  return hundreds >= 1 && hundreds < statusClasses.length ? hundreds : 0;
}
