import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { showFirstRun } from '#lib/control/operations/workspace/first-run';
import { newRowId } from '#lib/platform/data/row-id';
import { addCredit, createKey, createWorkspace, operate } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

/** A call with its sum, as settlement writes both. */
async function settle(workspaceId: string, status: number, minutesAgo = 0): Promise<string> {
  const id = newRowId();
  await db.pool.query(
    `INSERT INTO call (id, at, workspace_id, key_id, family, operation, status, error_code, streamed, latency_ms, overhead_ms,
       end_reason, usage_source, flags, usage, lines, attempts, cost_nano, hold_nano, over_hold_nano)
     VALUES ($2, now(), $1, $1, 'chat', 'chat.create', $3, $4, false, 1, 1, 'refused', 'none', '{}', '{}', '[]', '[]', 0, 0, 0)`,
    [workspaceId, id, status, status < 400 ? null : 'insufficient_balance'],
  );
  await db.pool.query(
    `INSERT INTO usage_quarter (workspace_id, quarter, key_id, model, provider, calls, limit_errors)
     VALUES ($1, date_bin('15 minutes', now() - make_interval(mins => $2), '2026-01-01'), $3, 'm', 'p', 1, $4)`,
    [workspaceId, minutesAgo, randomUUID(), status < 400 ? 0 : 1],
  );
  return id;
}

it('goes from nothing to funds, a key, a refused call and an answered one, and is over half an hour later', async () => {
  const { id, slug } = await createWorkspace(db, { name: 'First run' });
  const read = () => operate(db, showFirstRun, { workspace: slug });
  expect(await read()).toEqual({
    available: '0',
    funded: false,
    keys: false,
    answered: false,
    over: false,
    call: null,
  });
  await addCredit(db, { workspace: slug, amount: '5', reason: 'to begin with' });
  await createKey(db, { workspace: slug, name: 'first' });
  expect(await read()).toMatchObject({ available: '5', funded: true, keys: true, answered: false });
  const refused = await settle(id, 402);
  expect(await read()).toMatchObject({
    answered: false,
    call: { id: refused, status: 402, errorCode: 'insufficient_balance' },
  });
  const first = await settle(id, 200);
  await settle(id, 200);
  expect(await read()).toMatchObject({ answered: true, over: false, call: { id: first, status: 200 } });
  await settle(id, 402, 60);
  expect(await read()).toMatchObject({ over: false });
  await settle(id, 200, 60);
  expect(await read()).toMatchObject({ answered: true, over: true, call: null });
});
