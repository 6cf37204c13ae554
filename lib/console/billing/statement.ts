import { kindNames, namesOfKinds } from '#lib/console/billing/ledger-rows';
import { listUrl } from '#lib/console/list-url';
import { showDay } from '#lib/console/show/time';
import type { Statement } from '#lib/control/operations/ledger/statement';
import { formatUsd, parseUsd } from '#lib/core/money';
import { exactMoney, placesOf, showCount } from '#lib/core/show-money';

/** A line of a statement, formatted. */
export interface AmountRow {
  /** Its position in its table. */
  readonly id: string;
  readonly name: string;
  readonly note: string | null;
  readonly href: string | null;
  /** All amounts of a statement have the same number of decimals, so that they line up. */
  readonly amount: string;
  /** Whether it is a sum or a balance. */
  readonly strong: boolean;
}

export interface AmountTable {
  readonly caption: string;
  readonly rows: readonly AmountRow[];
}

type Row = { readonly name: string; readonly usd: string } & Partial<
  Omit<AmountRow, 'id' | 'name' | 'amount'>
>;

/**
 * The tables of a statement; the last row of each is the sum of the rows above it. @param logs URL of the
 * log.
 */
export function statementTables(statement: Statement, logs: string): AmountTable[] {
  const { opening, closing, sums, over } = statement;
  const tables: { caption: string; rows: Row[] }[] = [
    {
      caption: 'Summary',
      rows: [
        { name: 'Opening balance', usd: opening, strong: true },
        ...namesOfKinds
          .filter((kind) => sums[kind] !== '0')
          .map((kind) => ({ name: kindNames[kind], usd: sums[kind] })),
        { name: over ? 'Closing balance' : 'Balance so far', usd: closing, strong: true },
      ],
    },
    { caption: 'Payments, credits and corrections', rows: eventRows(statement) },
    { caption: `Usage by day (${statement.timeZone})`, rows: dayRows(statement, logs) },
    { caption: 'Usage by model', rows: modelRows(statement) },
  ];
  const places = placesOf(tables.flatMap(({ rows }) => rows.map(({ usd }) => usd)));
  return tables
    .filter(({ rows }) => rows.length > 1)
    .map(({ caption, rows }) => ({
      caption,
      rows: rows.map(({ usd, ...row }, place) => ({
        id: `${place}`,
        note: null,
        href: null,
        strong: false,
        ...row,
        amount: exactMoney(usd, places),
      })),
    }));
}

function eventRows({ timeZone, lines, more, corrections }: Statement): Row[] {
  const rows: Row[] = lines.map(({ at, kind, reason, amount }) => ({
    name: reason && reason !== kindNames[kind] ? `${kindNames[kind]}: ${reason}` : kindNames[kind],
    note: showDay(Date.parse(at), timeZone),
    usd: amount,
  }));
  if (more) rows.push({ name: `${showCount(more.lines)} more lines`, usd: more.amount });
  if (corrections.lines > 0) {
    const name = `Corrections of ${callsIn(corrections.lines)}, settled later`;
    rows.push({ name, usd: corrections.amount });
  }
  return rows.length === 0 ? [] : [...rows, { name: 'Total', usd: sumOf(rows), strong: true }];
}

function dayRows({ days, sums }: Statement, logs: string): Row[] {
  const rows = days.map(({ day, calls, amount }) => ({
    name: showDay(Date.parse(`${day}T12:00:00Z`), 'UTC'),
    note: callsIn(calls),
    href: listUrl(logs, { from: `${day}T00:00`, to: `${dayAfter(day)}T00:00` }),
    usd: amount,
  }));
  return [...rows, { name: 'Usage', usd: sums.usage, strong: true }];
}

/**
 * Usage counts calls when they are admitted, the ledger when they have ended: the edges make the sums agree.
 */
function modelRows({ models, edges, sums, corrections }: Statement): Row[] {
  if (models === null || edges === null) return [];
  const rows: Row[] = models.map(({ model, amount }) => ({
    name: model || 'No model',
    usd: amount,
  }));
  if (edges !== '0') rows.push({ name: 'Calls that started in one month and ended in another', usd: edges });
  const corrected = corrections.lines > 0;
  const usd = corrected ? sumOf([{ usd: sums.usage }, { usd: corrections.amount }]) : sums.usage;
  return [...rows, { name: corrected ? 'Usage and corrections of calls' : 'Usage', usd, strong: true }];
}

function sumOf(rows: readonly { readonly usd: string }[]): string {
  return formatUsd(rows.reduce((sum, { usd }) => sum + parseUsd(usd), 0n));
}

function callsIn(count: number): string {
  return `${showCount(count)} ${count === 1 ? 'call' : 'calls'}`;
}

/** "2026-11-30" → "2026-12-01". */
function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
