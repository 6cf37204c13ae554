import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LedgerLine, lineKinds } from '#lib/control/operations/ledger/list';
import { listLedger, listMonths, showStatement } from '#lib/control/operations/ledger/operations';
import { dayName } from '#lib/core/charts/zone';
import { parseUsd } from '#lib/core/money';
import { type Db, openDb } from '#lib/platform/data/db';
import { operate } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';

let database: TestDatabase;
let db: Db;
const zone = 'Asia/Kathmandu';
const workspace = 'statements';
const months = ['2025-12', '2026-01', '2026-02', '2026-03'];

/** Some 600 lines of every kind over three months of a zone that is 5:45 ahead, about its midnights too. */
const lines = `
  INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano, calls, key_id, at)
  SELECT gen_random_uuid(), $1::uuid, kind, gen_random_uuid(),
    CASE WHEN kind = 'usage' THEN -nano ELSE nano - 400000000 END, CASE WHEN kind = 'usage' THEN n % 9 + 1 END,
    CASE WHEN kind = 'adjustment' AND n % 2 = 0 THEN gen_random_uuid() END,
    CASE WHEN kind = 'usage' THEN ledger_quarter(at) ELSE at END
  FROM (SELECT n, (ARRAY['usage', 'usage', 'top_up', 'promo', 'refund', 'dispute', 'adjustment'])[1 + n % 7] AS kind,
    1 + floor(random() * 999999999)::bigint AS nano,
    '2025-12-31T18:15:00Z'::timestamptz + ((n - 3) * 12960 + floor(random() * 900)) * interval '1 second' AS at
    FROM generate_series(0, 603) AS n) AS made`;

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  // A demo workspace may have usage of the past.
  const { rows } = await db.pool.query<{ id: string }>(
    `INSERT INTO workspace (id, slug, name, time_zone, demo) VALUES (gen_random_uuid(), $1, $1, $2, true) RETURNING id`,
    [workspace, zone],
  );
  const client = await db.pool.connect();
  // The same lines each time.
  await client.query('SELECT setseed(0.42)');
  await client.query(lines, [rows[0]?.id]);
  client.release();
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const statementOf = (month: string) => operate(db, showStatement, { workspace, month });
const add = (amounts: readonly string[]) => amounts.reduce((sum, one) => sum + parseUsd(one), 0n);

async function ledgerOf(question: Record<string, unknown>): Promise<LedgerLine[]> {
  const all: LedgerLine[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page: { data: LedgerLine[]; next: string | null } = await operate(db, listLedger, {
      workspace,
      limit: 97,
      ...question,
      ...(after ? { after } : {}),
    });
    all.push(...page.data);
    after = page.next;
  }
  return all;
}

describe('the statement of a month (contract: money/statement, operations/statement)', () => {
  it('comes to the ledger exactly: every sum, every day, from month to month', async () => {
    let closing = '0';
    for (const month of months) {
      const [told, all] = [await statementOf(month), await ledgerOf({ month })];
      expect(all.every(({ at }) => dayName(Date.parse(at), zone).startsWith(month))).toBe(true);
      expect(told.opening).toBe(closing);
      expect(parseUsd(told.closing) - parseUsd(told.opening)).toBe(add(all.map(({ amount }) => amount)));
      for (const kind of lineKinds) {
        const own = all.filter((line) => line.kind === kind).map(({ amount }) => amount);
        expect([kind, parseUsd(told.sums[kind])]).toEqual([kind, add(own)]);
      }
      expect(add(told.days.map(({ amount }) => amount))).toBe(parseUsd(told.sums.usage));
      for (const { day, calls, amount } of told.days) {
        const own = all.filter(({ kind, at }) => kind === 'usage' && dayName(Date.parse(at), zone) === day);
        expect(parseUsd(amount)).toBe(add(own.map((line) => line.amount)));
        expect(calls).toBe(own.reduce((sum, line) => sum + (line.calls ?? 0), 0));
      }
      const events = [...told.lines.map(({ amount }) => amount), told.corrections.amount];
      expect(add([...events, told.sums.usage])).toBe(add(Object.values(told.sums)));
      expect(add([...(told.models ?? []).map(({ amount }) => amount), told.edges ?? '0'])).toBe(
        add([told.sums.usage, told.corrections.amount]),
      );
      closing = told.closing;
    }
    const [last] = await ledgerOf({ order: 'newest', limit: 1, month: '2026-03' });
    expect(closing).toBe(last?.balance);
  });

  it('exists for each month from the first line on, and only for months', async () => {
    const { data } = await operate(db, listMonths, { workspace });
    expect(data.at(-1)).toBe('2025-12');
    expect(data).toContain('2026-02');
    for (const month of ['2026-13', '2026-1', '1999-01', 'now', '２０２６-01'])
      await expect(statementOf(month)).rejects.toMatchObject({ code: 'invalid_body', field: 'month' });
    expect(await statementOf('2026-11')).toMatchObject({ days: [], lines: [] });
  });
});

describe('filters of the ledger (contract: operations/ledger-list)', () => {
  it('leave out lines, and never change the balance after those that stay', async () => {
    const all = await ledgerOf({});
    expect(all.length).toBe(604);
    for (const kind of lineKinds)
      expect(await ledgerOf({ kind })).toEqual(all.filter((line) => line.kind === kind));
    expect(await ledgerOf({ order: 'newest' })).toEqual(all.toReversed());
    expect(await ledgerOf({ order: 'newest', kind: 'refund', month: '2026-02' })).toEqual(
      (await ledgerOf({ kind: 'refund', month: '2026-02' })).toReversed(),
    );
  });

  it('are a month or a range, not both', async () => {
    const asked = operate(db, listLedger, { workspace, month: '2026-02', from: '2026-02-03' });
    await expect(asked).rejects.toMatchObject({ code: 'invalid_body', field: 'month' });
  });
});
