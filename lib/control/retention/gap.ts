import { setTimeout as pause } from 'node:timers/promises';
import type { PoolClient } from 'pg';

/** How long a lock is tried for. */
export interface Patience {
  /** How often it is requested without waiting, and the pause before the next request, ms. */
  readonly askTimes: number;
  readonly askPauseMs: number;
  /** How often it is then requested with waiting, and the pause before the next request, ms. */
  readonly waitTimes: number;
  readonly waitPauseMs: number;
}

const standard: Patience = { askTimes: 40, askPauseMs: 50, waitTimes: 5, waitPauseMs: 500 };
/** The longest wait for the lock of one table, during which statements that come after it wait too. */
const waitMs = 50;

/** The tables were in use the whole time: nothing was changed, and it may be tried again. */
export class TablesInUse extends Error {
  constructor(tables: readonly string[]) {
    super(`${tables.join(' and ')} were in use the whole time; trying again within an hour`);
    this.name = 'TablesInUse';
  }
}

interface Wanted {
  readonly mode?: 'SHARE' | 'ACCESS EXCLUSIVE';
  readonly patience?: Patience | undefined;
}

/**
 * Locks tables inside an open transaction without making others wait. Waiting for a lock blocks every statement that
 * comes after it, so the lock is first requested in the gaps between other transactions. If these overlap without a gap
 * (settlements of a large fleet), it is waited for, 50 ms at a time.
 * @param tables our own names, the parent before its partitions: a transaction that uses a partition through it has
 * both.
 * @throws TablesInUse; the transaction can go on.
 */
export async function lockInGap(
  client: PoolClient,
  tables: readonly string[],
  { mode = 'ACCESS EXCLUSIVE', patience = standard }: Wanted = {},
): Promise<void> {
  const { askTimes, askPauseMs, waitTimes, waitPauseMs } = patience;
  const locked = `LOCK TABLE ${tables.map((name) => `ONLY "${name}"`).join(', ')} IN ${mode} MODE`;
  for (let times = 1; times <= askTimes; times++) {
    if (await take(client, `${locked} NOWAIT`)) return;
    await pause(askPauseMs);
  }
  await client.query(`SET LOCAL lock_timeout = ${waitMs}`);
  for (let times = 1; times <= waitTimes; times++) {
    if (await take(client, locked)) return;
    await pause(waitPauseMs);
  }
  throw new TablesInUse(tables);
}

/** @returns false if another transaction has a conflicting lock. */
async function take(client: PoolClient, statement: string): Promise<boolean> {
  await client.query('SAVEPOINT gap');
  try {
    await client.query(statement);
    return true;
  } catch (error) {
    if (!isLockRefused(error)) throw error;
    await client.query('ROLLBACK TO gap; RELEASE gap');
    return false;
  }
}

/**
 * Makes sure that no other process changes weeks or deletes calls until the transaction ends. Reads and settlement do
 * not wait for this lock.
 * @returns false if another process is doing so; the transaction can go on.
 */
export function takeTurn(client: PoolClient): Promise<boolean> {
  return take(client, 'LOCK TABLE ONLY call IN SHARE UPDATE EXCLUSIVE MODE NOWAIT');
}

/** PostgreSQL's lock_not_available: NOWAIT found the table in use, or lock_timeout has passed. */
function isLockRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}
