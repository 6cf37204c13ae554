import type { Workspace } from '#generated/client';
import { fundsNano } from '#lib/control/billing/low-balance';
import { budgetEnds, readBudgets, type SpentMonth } from '#lib/control/billing/month';
import { keysetOf, nextOf, timeOrder } from '#lib/control/operations/field/paging';
import { madeByPeople } from '#lib/control/operations/key/find';
import { inScope, type Scope, within } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import {
  type RateLimited,
  readRateLimited,
  workspaceRefusingOf,
} from '#lib/control/operations/workspace/refusing';
import {
  type ListedWorkspace,
  type ShownWorkspace,
  stateOfRow,
} from '#lib/control/operations/workspace/settings';
import { formatUsd } from '#lib/core/money';

/** What open calls and jobs of workspace `w` hold; leased money is not held (contract: money/available). */
export const heldNano = `(SELECT coalesce(sum(amount_nano), 0) FROM hold WHERE workspace_id = w.id)
  + (SELECT coalesce(sum(held_nano), 0) FROM lease WHERE kind = 'workspace' AND subject_id = w.id)`;

/** What workspace `w` may still spend, without promo credit that has expired (contract: money/available). */
export const availableNano = `${fundsNano} - (${heldNano})`;

/** The same of all workspaces at once: `h.nano` of workspace `w`, null for none. */
const joinHeld = `LEFT JOIN (SELECT id, sum(nano)::bigint AS nano FROM (
    SELECT workspace_id AS id, amount_nano AS nano FROM hold
    UNION ALL SELECT subject_id, held_nano FROM lease WHERE kind = 'workspace') AS parts GROUP BY id
  ) AS h ON h.id = w.id`;

/** Nano-dollars. */
interface Funds {
  readonly held: string;
  readonly available: string;
  readonly funds: string;
}

const funds = `(${heldNano})::text AS held, (${availableNano})::text AS available, (${fundsNano})::text AS funds`;

/** A limit as the value of an order: a workspace without one comes after all others. */
function limitOrder(column: string) {
  return { sql: `coalesce(${column}::bigint, ${10 ** 17})`, type: 'bigint' } as const;
}

/** By what workspaces can be sorted. `h` is what each holds, which only two of them read. */
export const workspaceOrders = {
  name: { sql: 'lower(w.name)', type: 'text' },
  balance: { sql: 'w.balance_nano', type: 'bigint' },
  available: { sql: `(${fundsNano} - coalesce(h.nano, 0))::bigint`, type: 'bigint' },
  held: { sql: 'coalesce(h.nano, 0)', type: 'bigint' },
  rpm: limitOrder('w.rpm'),
  tpm: limitOrder('w.tpm'),
  concurrency: limitOrder('w.concurrency'),
  created: timeOrder('w.created_at'),
} as const;

/** Workspaces of the scope. @throws ControlRefused (invalid_body) for an invalid `after`. */
export async function listWorkspaces(
  store: Store,
  scope: Scope,
  page: {
    conditions(values: unknown[]): string[];
    readonly sort: string;
    readonly after: string | undefined;
    readonly limit: number;
  },
  nowMs: number,
): Promise<{ data: ListedWorkspace[]; next: string | null }> {
  const values: unknown[] = [page.limit + 1];
  const where = ['w.deleted_at IS NULL', within(scope, 'w.id', values), ...page.conditions(values)];
  const { place, orderBy, conditions } = keysetOf(workspaceOrders, page, 'w.id', values);
  const join = /^-?(available|held)$/.test(page.sort) ? joinHeld : '';
  const found = await store.query<{ id: string; place: string } & Funds>(
    `SELECT w.id::text AS id, ${place} AS place, ${funds} FROM workspace w ${join}
     WHERE ${[...where, ...conditions].join(' AND ')} ORDER BY ${orderBy} LIMIT $1`,
    values,
  );
  const rows = found.slice(0, page.limit);
  const ids = rows.map(({ id }) => id);
  const workspaces = await store.prisma.workspace.findMany({ where: { id: { in: ids } } });
  const byId = new Map(workspaces.map((workspace) => [workspace.id, workspace]));
  const limited = await readRateLimited(store, ids, nowMs);
  const budgets = await readBudgets(store, ids, nowMs);
  return {
    data: rows.flatMap((row) => {
      const workspace = byId.get(row.id);
      return workspace
        ? [listed(workspace, row, { limited: limited.get(row.id), month: budgets.get(row.id) })]
        : [];
    }),
    next: nextOf(found, page.limit, page.sort),
  };
}

/** One workspace with its keys, oldest first. */
export async function readWorkspace(
  store: Store,
  scope: Scope,
  id: string,
  nowMs: number,
): Promise<ShownWorkspace | null> {
  const values: unknown[] = [id];
  const [found] = await store.query<Funds>(
    `SELECT ${funds} FROM workspace w
     WHERE w.id = $1::uuid AND ${within(scope, 'w.id', values)}`,
    values,
  );
  const workspace = await store.prisma.workspace.findUnique({ where: { id } });
  if (found === undefined || workspace === null) return null;
  const keys = await store.prisma.apiKey.findMany({
    where: { ...inScope(scope), ...madeByPeople, workspaceId: id },
    select: { id: true, name: true, status: true, displayStart: true, displayEnd: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  const limited = await readRateLimited(store, [id], nowMs);
  const budgets = await readBudgets(store, [id], nowMs);
  return {
    ...listed(workspace, found, { limited: limited.get(id), month: budgets.get(id) }),
    keys: keys.map(({ displayStart, displayEnd, ...key }) => ({
      ...key,
      display: `${displayStart}…${displayEnd}`,
    })),
  };
}

function listed(
  row: Workspace,
  { held, available, funds }: Funds,
  { limited = null, month }: { limited: RateLimited | null | undefined; month: SpentMonth | undefined },
): ListedWorkspace {
  return {
    id: row.id,
    ...stateOfRow(row),
    balance: formatUsd(row.balanceNano),
    simulated: formatUsd(row.simulatedNano),
    held: formatUsd(BigInt(held)),
    available: formatUsd(BigInt(available)),
    refusing: workspaceRefusingOf({
      suspended: row.suspendedAt !== null,
      fundsNano: BigInt(funds),
      budgetEnds: budgetEnds(month),
      limited,
    }),
    createdAt: row.createdAt.toISOString(),
  };
}
