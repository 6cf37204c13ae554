import type { PoolClient } from 'pg';
import type { LeavingCalls } from '#lib/control/billing/close';

/**
 * What has to be done with calls before they go (contract: call-log/last-check). It runs once for each of them, inside
 * the transaction that deletes them, and sees exactly the calls that are deleted: what it writes is committed with the
 * deletion or not at all.
 * @throws Error: the calls stay, the error is reported, and the next round tries again.
 */
export type OnLeaving = (client: PoolClient, calls: LeavingCalls) => Promise<void>;
