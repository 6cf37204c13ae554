import { notFound } from 'next/navigation';
import { controlHost } from '#lib/console/actor';
import { getConsoleHost } from '#lib/console/db';
import { ask } from '#lib/control/operations/run';
import { type Status, showStatus } from '#lib/control/operations/status/operations';

/** A process reads the database at most once in this time, however many visitors ask, ms. */
const keptMs = 10_000;

interface Kept {
  readonly atMs: number;
  readonly status: Promise<Status>;
}

const slot = Symbol.for('model-gateway.status-page');

/** Bundles have copies of this module; the registered symbol lets them share one. */
function kept(): Record<symbol, Kept | undefined> {
  return globalThis as unknown as Record<symbol, Kept | undefined>;
}

/**
 * What the status page shows, at most ten seconds old; the not-found page if it is turned off.
 * @param operator sees their own changes at once.
 * @throws Error of the database if there is no earlier answer.
 */
export async function readStatus(nowMs: number, operator = false): Promise<Status> {
  if (getConsoleHost().env.statusPage === false) notFound();
  const known = kept()[slot];
  if (known && !operator && nowMs - known.atMs < keptMs) return known.status;
  const actor = { kind: 'anonymous', address: null } as const;
  const status = ask(controlHost(), showStatus, { actor, input: {} }).catch((error: unknown) => {
    if (!known) throw error;
    getConsoleHost().report(error);
    return known.status;
  });
  const next = { atMs: nowMs, status };
  kept()[slot] = next;
  // A failure is not kept: the next request tries again.
  status.catch(() => kept()[slot] === next && delete kept()[slot]);
  return status;
}
