import { monthOf } from '#lib/core/charts/ranges';
import { knownZone } from '#lib/core/charts/zone';
import { postedOfCalls } from '#lib/gateway/ledger/posted';

/** The database, as operations and workers have it. */
export interface Queries {
  query<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
}

export const budgetModes = ['warning', 'hard'] as const;
export type BudgetMode = (typeof budgetModes)[number];

/** What a workspace has spent in the calendar month of its zone (contract: money/budget). */
export interface SpentMonth {
  /** [from, to), ms since the epoch. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly spentNano: bigint;
  /** null: it has no budget. */
  readonly budgetNano: bigint | null;
  readonly mode: BudgetMode;
}

interface Row {
  readonly id: string;
  readonly time_zone: string;
  readonly budget: string | null;
  readonly mode: string;
}

const found = `SELECT w.id::text AS id, w.time_zone, w.budget_nano::text AS budget, w.budget_mode AS mode FROM workspace w`;

const spent = `
  SELECT r.id::text AS id, ${postedOfCalls('r.id', 'r.since', 'r.until')}::text AS spent
  FROM unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[]) AS r (id, since, until)`;

/** The month of a workspace, with a budget or without. @returns null: there is no such workspace. */
export async function readMonth(
  store: Queries,
  workspaceId: string,
  nowMs: number,
): Promise<SpentMonth | null> {
  const rows = await store.query<Row>(`${found} WHERE w.id = $1::uuid`, [workspaceId]);
  return (await monthsOf(store, rows, nowMs)).get(workspaceId) ?? null;
}

/** The months of those of these workspaces that have a budget, by id. @throws Error of the database. */
export async function readBudgets(
  store: Queries,
  ids: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, SpentMonth>> {
  const where = 'w.id = ANY ($1::uuid[]) AND w.budget_nano IS NOT NULL';
  return monthsOf(store, await store.query<Row>(`${found} WHERE ${where}`, [ids]), nowMs);
}

/** The months of all workspaces with a budget, by id, for alerts: not of deleted ones or demo data. */
export async function readAllBudgets(
  store: Queries,
  nowMs: number,
): Promise<ReadonlyMap<string, SpentMonth>> {
  const where = 'w.budget_nano IS NOT NULL AND w.deleted_at IS NULL AND NOT w.demo';
  return monthsOf(store, await store.query<Row>(`${found} WHERE ${where}`, []), nowMs);
}

async function monthsOf(
  store: Queries,
  rows: readonly Row[],
  nowMs: number,
): Promise<Map<string, SpentMonth>> {
  if (rows.length === 0) return new Map();
  const months = rows.map(({ time_zone: zone }) => monthOf(nowMs, knownZone(zone)));
  const sums = await store.query<{ id: string; spent: string }>(spent, [
    rows.map(({ id }) => id),
    months.map(({ fromMs }) => new Date(fromMs).toISOString()),
    months.map(({ toMs }) => new Date(toMs).toISOString()),
  ]);
  const spentOf = new Map(sums.map((row) => [row.id, BigInt(row.spent)]));
  return new Map(
    rows.map(({ id, budget, mode }, at) => [
      id,
      {
        fromMs: months[at]?.fromMs ?? nowMs,
        toMs: months[at]?.toMs ?? nowMs,
        spentNano: spentOf.get(id) ?? 0n,
        budgetNano: budget === null ? null : BigInt(budget),
        mode: budgetModes.find((one) => one === mode) ?? 'warning',
      },
    ]),
  );
}

/** When a hard budget that is used up admits calls again; null: it refuses none. Pure. */
export function budgetEnds(month: SpentMonth | undefined): Date | null {
  if (month === undefined || month.budgetNano === null || month.mode !== 'hard') return null;
  return month.spentNano >= month.budgetNano ? new Date(month.toMs) : null;
}
