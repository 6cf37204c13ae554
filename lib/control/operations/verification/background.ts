import type { Pool } from 'pg';
import { verifyLedger } from '#lib/control/billing/verify';
import { formatUsd } from '#lib/core/money';

/** How often a verifying process renews its turn, ms; after three times as long without, it counts as dead. */
const BEAT_MS = 20_000;
/** Maximum of rows of a check to keep. */
const KEPT_ROWS = 20;

/** A stored verification. */
export interface KeptVerification {
  readonly startedAt: string;
  readonly endedAt: string;
  readonly tookMs: number;
  /** Why it failed to run; null: it ran. */
  readonly error: string | null;
  readonly ok: boolean;
  /** Dollars. */
  readonly overHold: string;
  readonly checks: readonly {
    readonly name: string;
    /** At most 20 of them. */
    readonly rows: readonly unknown[];
    readonly broken: number;
  }[];
}

const take = `UPDATE fleet_duty SET taken_until = now() + interval '60 seconds'
  WHERE name = 'verify' AND (taken_until IS NULL OR taken_until <= now())`;
const beat = `UPDATE fleet_duty SET taken_until = now() + interval '60 seconds' WHERE name = 'verify'`;
const end = `UPDATE fleet_duty SET taken_until = NULL, done_at = now(), result = $1::jsonb WHERE name = 'verify'`;

/** @returns false if another one is running. To be called in the transaction that starts it. */
export async function takeVerification(execute: (sql: string) => Promise<number>): Promise<boolean> {
  return (await execute(take)) === 1;
}

/**
 * Verifies the ledger and stores the result, or the error if it could not run. The caller has taken the turn.
 * @throws Error of the database if the result cannot be stored either: it then counts as ended after a minute.
 */
export async function runVerification(pool: Pool, now: () => number): Promise<void> {
  const startedMs = now();
  const timer = setInterval(() => pool.query(beat).catch(() => undefined), BEAT_MS);
  timer.unref();
  try {
    const found = await verifyLedger({ pool }).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    );
    const endedMs = now();
    const times = {
      startedAt: new Date(startedMs).toISOString(),
      endedAt: new Date(endedMs).toISOString(),
      tookMs: Math.max(0, endedMs - startedMs),
    };
    const kept: KeptVerification =
      found instanceof Error
        ? { ...times, error: found.message.slice(0, 500), ok: false, overHold: '0', checks: [] }
        : {
            ...times,
            error: null,
            ok: found.ok,
            overHold: formatUsd(found.overHoldNano),
            checks: found.checks.map(({ name, rows }) => ({
              name,
              rows: rows.slice(0, KEPT_ROWS),
              broken: rows.length,
            })),
          };
    await pool.query(end, [JSON.stringify(kept)]);
  } finally {
    clearInterval(timer);
  }
}
