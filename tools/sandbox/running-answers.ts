import type { ReceivedRequest } from '#tools/sandbox/dialect';
import type { Outlet } from '#tools/sandbox/wire/outlet';

/** The running answers, so that tests can continue those that stall (`POST /_release`). */
export class RunningAnswers {
  readonly #seen = new Map<Outlet, ReceivedRequest>();

  add(outlet: Outlet, seen: ReceivedRequest): void {
    this.#seen.set(outlet, seen);
  }

  end(outlet: Outlet): void {
    this.#seen.delete(outlet);
  }

  /** @param text in the path or the body of the requests. @returns how many answers were continued. */
  release(text: string): number {
    const found = [...this.#seen].filter(([, { path, body }]) => path.includes(text) || body.includes(text));
    for (const [outlet] of found) outlet.release();
    return found.length;
  }
}
