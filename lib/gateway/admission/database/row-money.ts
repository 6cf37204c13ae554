import { fundOnce } from '#lib/gateway/admission/database/fund';
import { createMoneyStore } from '#lib/gateway/admission/database/money-in-database';
import type { FundRequest, LeaseState, MoneyStore } from '#lib/gateway/admission/money-store';
import type { Db } from '#lib/platform/data/db';
import { queryWithin } from '#lib/platform/data/query-within';

/** The owner of the holds of all processes without leases: it never expires, their calls do. */
export const ROW_OWNER = '00000000-0000-7000-8000-000000000001';
const EPOCH = 1;
const QUERY_MS = 4_000;
const RETRYABLE = new Set(['40P01', '40001']);
const TRIES = 3;

/**
 * Money of a process that settles without a journal (contract: durability/settlement-modes): every hold is a row, nothing
 * is leased, and nothing depends on the process being heard from.
 */
export function createRowMoney(db: Db): MoneyStore {
  const base = createMoneyStore(db, ROW_OWNER);
  const query = queryWithin(db.pool, QUERY_MS);
  const unleased = (state: LeaseState): LeaseState => ({ ...state, grantable: false });
  return {
    ...base,
    async register() {
      await query(
        `INSERT INTO owner (id, machine, pid, epoch, expires_at)
         VALUES ($1, 'processes without leases', 0, ${EPOCH}, '9999-01-01') ON CONFLICT (id) DO NOTHING`,
        [ROW_OWNER],
      );
    },
    beat: async () => true,
    async fund(request) {
      const rows: FundRequest = {
        ...request,
        workspace: unleased(request.workspace),
        keys: request.keys.map(unleased),
      };
      for (let tries = 1; ; tries++) {
        try {
          return await fundOnce(db, rows, ROW_OWNER, EPOCH);
        } catch (error) {
          if (tries >= TRIES || !RETRYABLE.has(codeOf(error))) throw error;
        }
      }
    },
    reportHeld: async () => [],
    giveBack: async () => {},
    async removeHolds(callIds) {
      await query('DELETE FROM open_call WHERE call_id = ANY ($1::uuid[])', [callIds]);
      await base.removeHolds(callIds);
    },
    leave: async () => {},
  };
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
