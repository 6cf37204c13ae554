import { expect, test } from 'vitest';
import { ledgerCsvHead, ledgerCsvLine } from '#lib/console/billing/csv-lines';
import { ledgerRowOf } from '#lib/console/billing/ledger-rows';
import { statementTables } from '#lib/console/billing/statement';
import type { LedgerLine } from '#lib/control/operations/ledger/list';
import type { Statement } from '#lib/control/operations/ledger/statement';
import { formatUsd, parseUsd } from '#lib/core/money';

const statement: Statement = {
  month: '2026-11',
  timeZone: 'Asia/Kathmandu',
  over: true,
  from: '2026-10-31T18:15:00.000Z',
  to: '2026-11-30T18:15:00.000Z',
  opening: '-0.5',
  closing: '19.249999999',
  sums: {
    usage: '-0.250000001',
    top_up: '20',
    promo: '0',
    expiry: '0',
    refund: '0',
    dispute: '0',
    adjustment: '0',
  },
  lines: [{ at: '2026-11-02T00:00:00.000Z', kind: 'top_up', amount: '20', reason: null, ref: 'order' }],
  more: null,
  corrections: { lines: 0, amount: '0' },
  days: [
    { day: '2026-11-03', calls: 2, amount: '-0.15' },
    { day: '2026-11-30', calls: 1, amount: '-0.100000001' },
  ],
  models: [{ model: 'a/b', amount: '-0.3' }],
  edges: '0.049999999',
};
const line: LedgerLine = {
  id: '0198b1a2-0000-7000-8000-000000000000',
  at: '2026-11-22T18:20:00.000Z',
  kind: 'usage',
  amount: '-0.25',
  simulated: '0',
  balance: '9.75',
  calls: 3,
  reason: null,
  ref: '2026-11-22T18:15:00Z',
  call: null,
  topUp: null,
  receiptUrl: null,
};
const read = (shown: string) => parseUsd(shown.replace('$', '').replace('−', '-').replaceAll(',', ''));

test('each table of a statement ends with what its rows come to, nothing rounded', () => {
  const tables = statementTables(statement, '/acme/logs');
  expect(tables.map(({ caption }) => caption)).toEqual([
    'Summary',
    'Payments, credits and corrections',
    'Usage by day (Asia/Kathmandu)',
    'Usage by model',
  ]);
  for (const { rows } of tables) {
    const above = rows.slice(0, -1).reduce((sum, { amount }) => sum + read(amount), 0n);
    expect(formatUsd(above)).toBe(formatUsd(read(rows.at(-1)?.amount ?? '')));
  }
  expect(
    new Set(tables.flatMap(({ rows }) => rows.map(({ amount }) => amount.split('.')[1]?.length))),
  ).toEqual(new Set([9]));
});

test('a day of a statement leads to the calls of that day', () => {
  const [, , days] = statementTables(statement, '/acme/logs');
  expect(days?.rows[1]?.href).toBe('/acme/logs?from=2026-11-30T00%3A00&to=2026-12-01T00%3A00');
});

test('a month in which nothing happened has its balances alone', () => {
  const sums = { ...statement.sums, usage: '0', top_up: '0' };
  const empty = { ...statement, closing: '-0.5', sums, lines: [], days: [], models: [], edges: '0' };
  expect(statementTables(empty, '/acme/logs').map(({ rows }) => rows.length)).toEqual([2]);
});

test('a line leads to its cause: the calls of its quarter, its call, its receipt', () => {
  const place = { workspace: 'acme', zone: 'UTC' };
  expect(ledgerRowOf(line, place).link).toMatchObject({
    text: '3 calls',
    href: '/acme/logs?from=2026-11-22T18%3A20%3A00.000Z&to=2026-11-22T18%3A35%3A00.000Z',
  });
  const corrected = { ...line, kind: 'adjustment', calls: null, call: line.id } as const;
  expect(ledgerRowOf(corrected, place).link?.href).toBe(`/acme/logs/${line.id}`);
  const paid = { ...line, kind: 'top_up', calls: null, receiptUrl: 'https://pay.example/r' } as const;
  expect(ledgerRowOf(paid, place).link).toMatchObject({ away: true, href: 'https://pay.example/r' });
});

test('a line of the file has as many cells as its head, and runs no formula of a reason', () => {
  const cells = ledgerCsvLine({ ...line, reason: '=HYPERLINK("x")' }, 'Asia/Kathmandu');
  expect(cells).toContain(`"'=HYPERLINK(""x"")"`);
  expect(cells).toMatch(/^2026-11-23T00:05:00\+05:45,2026-11-22T18:20:00\.000Z,/);
  const plain = ledgerCsvLine(line, 'UTC');
  expect(plain.split(',')).toHaveLength(ledgerCsvHead.split(',').length);
  expect(plain).toContain(',-0.25,9.75,3,');
});
