import { setTimeout as pause } from 'node:timers/promises';
import type { PoolClient } from 'pg';

/** How long a lock is tried for. */
export interface Patience {
  /** How often it is asked for without waiting, and the pause before it is asked for again, ms. */
  readonly askTimes: number;
  readonly askPauseMs: number;
  /** How often it is waited for after that, and the pause before the next time, ms. */
  readonly waitTimes: number;
  readonly waitPauseMs: number;
}

const standard: Patience = { askTimes: 40, askPauseMs: 50, waitTimes: 5, waitPauseMs: 500 };
/** The longest wait for the lock of one table, during which statements that come after it wait too. */
const waitMs = 50;

/** The tables were in use all the time: nothing was changed, and it may be tried again. */
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
 * Locks tables inside an open transaction without keeping anybody waiting. A lock that is waited for holds up every
 * statement that comes after it, so it is first asked for in the gaps between the transactions of others. Where they
 * overlap without end (settlements of a large fleet), it is waited for, 50 ms at a time.
 * @param tables names of ours, the parent before its partitions: whoever uses a partition by way of it has both.
 * @throws TablesInUse; the transaction can go on then.
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

/** @returns false when somebody else has a lock in the way. */
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

/** PostgreSQL's lock_not_available: NOWAIT found the table in use, or lock_timeout has passed. */
export function isLockRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}
