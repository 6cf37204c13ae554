import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listLedger } from '#lib/control/operations/ledger/operations';
import { postUsage } from '#lib/gateway/ledger/post-usage';
import { type Db, openDb } from '#lib/platform/data/db';
import { addCredit, operate } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';

let database: TestDatabase;
let db: Db;
let made = 0;

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

async function newWorkspace(): Promise<{ id: string; slug: string }> {
  made += 1;
  const slug = `books-${made}`;
  const { rows } = await db.pool.query<{ id: string }>(
    'INSERT INTO workspace (id, slug, name) VALUES (gen_random_uuid(), $1, $1) RETURNING id',
    [slug],
  );
  return { id: rows[0]?.id ?? '', slug };
}

type Page = Awaited<ReturnType<typeof ledgerOf>>;

const ledgerOf = (workspace: string, page: Record<string, unknown> = {}) =>
  operate(db, listLedger, { workspace, ...page });

/** What calls cost that are settled now. */
const settle = (id: string, spentNano: bigint, calls: number) =>
  postUsage(db.pool, [{ id, spentNano, simulatedNano: 0n, calls }]);

describe('the ledger of a workspace (contract: operations/ledger-list)', () => {
  it('is listed from its oldest line on, with the balance after each, page by page', async () => {
    const { id, slug } = await newWorkspace();
    await settle(id, 250_000_000n, 3);
    for (const amount of ['10', '-1', '0.5'])
      await addCredit(db, { workspace: slug, amount, reason: 'test' });
    const all: Page['data'] = [];
    let after: string | null = null;
    do {
      const page: Page = await ledgerOf(slug, {
        limit: 2,
        ...(after ? { after } : {}),
      });
      all.push(...page.data);
      after = page.next;
    } while (after !== null);
    // Usage is of the start of its quarter of an hour, and stands at its end: the first credit paid it.
    expect(all.map(({ kind, amount, balance, calls }) => ({ kind, amount, balance, calls }))).toEqual([
      { kind: 'adjustment', amount: '10', balance: '10', calls: null },
      { kind: 'adjustment', amount: '-1', balance: '9', calls: null },
      { kind: 'adjustment', amount: '0.5', balance: '9.5', calls: null },
      { kind: 'usage', amount: '-0.25', balance: '9.25', calls: 3 },
    ]);
    const usage = all.at(-1);
    expect(usage).toMatchObject({ at: usage?.ref.replace('Z', '.000Z'), reason: null });
    expect(Date.parse(usage?.at ?? '') % 900_000).toBe(0);
    expect((await ledgerOf(slug)).data).toEqual(all);
    expect((await ledgerOf(slug, { order: 'newest' })).data).toEqual(all.toReversed());
  });

  it('begins a range with the balance of all that was before', async () => {
    const { id, slug } = await newWorkspace();
    await db.pool.query(
      `INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, at)
       SELECT gen_random_uuid(), $1, 'top_up', gen_random_uuid()::text, n * 1000000000::bigint, '2026-01-01'::timestamptz + n * interval '1 day'
       FROM generate_series(1, 4) AS n`,
      [id],
    );
    await db.pool.query('UPDATE workspace SET balance_nano = 10000000000 WHERE id = $1', [id]);
    const { data, next } = await ledgerOf(slug, { from: '2026-01-03', to: '2026-01-05' });
    expect(data).toMatchObject([
      { kind: 'top_up', amount: '2', balance: '3', at: '2026-01-03T00:00:00.000Z' },
      { amount: '3', balance: '6' },
    ]);
    expect(next).toBeNull();
  });

  it('shows balances that are exact on every page, also where usage grew since the last one', async () => {
    const { id, slug } = await newWorkspace();
    await settle(id, 1_000_000_000n, 1);
    for (const amount of ['10', '20', '30']) await addCredit(db, { workspace: slug, amount, reason: 'test' });
    const first = await ledgerOf(slug, { limit: 2 });
    expect(first.data.map(({ balance }) => balance)).toEqual(['10', '30']);
    await settle(id, 2_000_000_000n, 5);
    const { rows } = await db.pool.query<{ at: Date; balance: string }>(
      `SELECT at, (sum(amount_nano) OVER (ORDER BY ledger_place(at, kind), id) / 1000000000)::bigint::text AS balance FROM ledger_line
       WHERE workspace_id = $1 ORDER BY ledger_place(at, kind), id`,
      [id],
    );
    const balances = rows.map(({ balance }) => balance);
    const second = await ledgerOf(slug, { limit: 10, after: first.next ?? '' });
    expect(second.data.map(({ balance }) => balance)).toEqual(balances.slice(2));
    // From within a day, page by page.
    const from = rows[1]?.at ?? new Date();
    const begin = rows.findIndex(({ at }) => at >= from);
    const page = await ledgerOf(slug, { from: from.toISOString(), limit: 1 });
    expect(page.data[0]?.balance).toBe(balances[begin]);
    const rest = await ledgerOf(slug, { from: from.toISOString(), limit: 5, after: page.next ?? '' });
    expect(rest.data[0]?.balance).toBe(balances[begin + 1]);
  });

  it('is empty for a workspace whose money never moved, and holds no line of another', async () => {
    const [one, other] = [await newWorkspace(), await newWorkspace()];
    await addCredit(db, { workspace: other.slug, amount: '1', reason: 'test' });
    expect(await ledgerOf(one.slug)).toEqual({ data: [], next: null });
    const { next } = await addTwo(other.slug);
    expect((await ledgerOf(one.slug, { after: next })).data).toEqual([]);
  });

  it.each(['nonsense', '1.2.3', '1.00000000-0000-0000-0000-00000000000g', '9'.repeat(400)])(
    'refuses the place %j, which no page ended at',
    async (after) => {
      const { slug } = await newWorkspace();
      await expect(ledgerOf(slug, { after })).rejects.toMatchObject({ code: 'invalid_body', field: 'after' });
    },
  );

  async function addTwo(slug: string) {
    await addCredit(db, { workspace: slug, amount: '1', reason: 'test' });
    return ledgerOf(slug, { limit: 1 });
  }
});
