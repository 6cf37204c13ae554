import { z } from 'zod';
import type { ApiKey } from '#generated/client';
import { budgetEnds, readBudgets } from '#lib/control/billing/month';
import type { ReadContext } from '#lib/control/operations/declare';
import { isUuid } from '#lib/control/operations/field/kinds';
import {
  keysetOf,
  type ListPlace,
  nextOf,
  type Order,
  placeText,
  timeOrder,
} from '#lib/control/operations/field/paging';
import {
  isReached,
  readFreesAt,
  readFunds,
  readLatestCalls,
  refusingOf,
  unservedCode,
} from '#lib/control/operations/key/refusing';
import { type ShownKey, stateOfRow } from '#lib/control/operations/key/settings';
import { type KeySpend, readSpend, readSpendOfAll } from '#lib/control/operations/key/spend';
import { notFound, quoted } from '#lib/control/operations/refusal';
import { inScope, type WorkspaceScope, within } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { formatUsd } from '#lib/core/money';

interface Facts {
  id: string;
  owner_removed: boolean;
  maker: string | null;
  /** Only of keys of which no call was admitted yet. */
  tried_at: Date | null;
}

const factsOf = `
  SELECT k.id::text AS id, k.created_by IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM member m WHERE m.workspace_id = k.workspace_id AND m.user_id = k.created_by
    ) AS owner_removed,
    (SELECT coalesce(u.name, u.email) FROM "user" u WHERE u.id = k.created_by) AS maker,
    CASE WHEN k.last_used_at IS NULL
      THEN (SELECT c.at FROM call c WHERE c.key_id = k.id ORDER BY c.id DESC LIMIT 1) END AS tried_at
  FROM api_key k
  WHERE k.id = ANY($1::uuid[])`;

/** Leaves out the keys of playgrounds, which end with their session and are not managed by users. */
export const madeByPeople = { sessionId: null };

/** What reading keys takes of the context of an operation. */
type KeyReader = Pick<ReadContext<'subject'>, 'store' | 'scope' | 'nowMs' | 'catalogue'>;

/** Keys of the scope by their ids, in the order of the ids; missing ones are left out. */
async function readKeys(context: KeyReader, ids: readonly string[]): Promise<ShownKey[]> {
  const { store, scope, nowMs } = context;
  if (ids.length === 0) return [];
  const [rows, facts, spendOf, latest, catalogue] = await Promise.all([
    store.prisma.apiKey.findMany({
      where: { ...inScope(scope), ...madeByPeople, id: { in: [...ids] } },
      include: { workspace: { select: { slug: true, suspendedAt: true, timeZone: true } } },
    }),
    store.query<Facts>(factsOf, [ids]),
    readSpend(store, ids),
    readLatestCalls(store, ids, nowMs),
    context.catalogue(),
  ]);
  const workspaceIds = [...new Set(rows.map(({ workspaceId }) => workspaceId))];
  const funds = await readFunds(store, workspaceIds);
  const budgets = await readBudgets(store, workspaceIds, nowMs);
  const factsById = new Map(facts.map((one) => [one.id, one]));
  const shown = await Promise.all(
    rows.map(async (row) => {
      const { slug, timeZone, suspendedAt } = row.workspace;
      const spend = spendOf(row.id);
      const ownFacts = factsById.get(row.id);
      const freesAt = async (window: 'd7' | 'd30', spentNano: bigint, capNano: bigint | null) =>
        capNano !== null && isReached(spentNano, capNano)
          ? readFreesAt(store, row.id, window, capNano)
          : null;
      const refusing = refusingOf(
        row,
        {
          spend,
          ownerRemoved: ownFacts?.owner_removed ?? false,
          latest: latest.get(row.id) ?? null,
          unserved: unservedCode(stateOfRow(row).models, catalogue, nowMs),
          freesAt: {
            d7: await freesAt('d7', spend.d7Nano, row.d7CapNano),
            d30: await freesAt('d30', spend.d30Nano, row.d30CapNano),
          },
          workspace: {
            timeZone,
            suspended: suspendedAt !== null,
            fundsNano: funds.get(row.workspaceId) ?? 0n,
            budgetEnds: budgetEnds(budgets.get(row.workspaceId)),
          },
        },
        nowMs,
      );
      return { ...showKey(row, slug, ownFacts, spend), refusing };
    }),
  );
  const byId = new Map(shown.map((key) => [key.id, key]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function showKey(
  row: ApiKey,
  workspace: string,
  facts: Facts | undefined,
  spend: KeySpend,
): Omit<ShownKey, 'refusing'> {
  return {
    id: row.id,
    workspace,
    ...stateOfRow(row),
    spent: {
      day: formatUsd(spend.dayNano),
      d7: formatUsd(spend.d7Nano),
      d30: formatUsd(spend.d30Nano),
      total: formatUsd(row.spentNano),
    },
    createdBy: row.createdBy === null ? null : { id: row.createdBy, name: facts?.maker ?? 'a former user' },
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    lastTriedAt: facts?.tried_at?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    ownerRemoved: facts?.owner_removed ?? false,
  };
}

/** One key of the scope. @throws ControlRefused not_found. */
export async function getKey(context: KeyReader, id: string): Promise<ShownKey> {
  const [found] = isUuid(id) ? await readKeys(context, [id]) : [];
  if (found === undefined) throw noKey(id);
  return found;
}

const ofKey = z.object({ id: z.uuid() });

/** The time zone of the workspace of the key in an input; null: there is no such key. */
export async function zoneOfKey(store: Store, input: unknown): Promise<string | null> {
  const named = ofKey.safeParse(input);
  if (!named.success) return null;
  const where = { id: named.data.id };
  const select = { workspace: { select: { timeZone: true } } };
  return (await store.prisma.apiKey.findUnique({ where, select }))?.workspace.timeZone ?? null;
}

export function noKey(id: string) {
  return notFound(`there is no API key ${quoted(id)}; check its id`, 'id');
}

/** Newest first, revoked keys last: an order that pages can follow. */
const order = "(k.status = 'revoked'), k.created_at DESC, k.id DESC";

/**
 * A page of the scope's keys. Its end is the position of the last key at that time, so that keys
 * created or revoked meanwhile do not shift the following pages.
 * @param after `next` of the previous page: whether its last key was revoked, and that key's position.
 */
export async function pageOfKeys(
  context: KeyReader,
  page: {
    /** More conditions; their values are added to those of the statement. */
    conditions(values: unknown[]): string[];
    readonly after: (ListPlace & { readonly revoked: boolean }) | null;
    readonly limit: number;
  },
): Promise<{ data: ShownKey[]; next: string | null }> {
  const { store, scope } = context;
  const values: unknown[] = [page.limit + 1];
  const where = [within(scope, 'k.workspace_id', values), 'k.session_id IS NULL', ...page.conditions(values)];
  if (page.after) {
    const revoked = `$${values.push(page.after.revoked)}::boolean`;
    const at = `$${values.push(page.after.at)}::timestamptz`;
    const id = `$${values.push(page.after.id)}::uuid`;
    where.push(`((k.status = 'revoked') > ${revoked} OR ((k.status = 'revoked') = ${revoked}
      AND (k.created_at, k.id) < (${at}, ${id})))`);
  }
  const rows = await store.query<ListPlace & { revoked: boolean }>(
    `SELECT k.id::text AS id, k.created_at AS at, k.status = 'revoked' AS revoked FROM api_key k
     WHERE ${where.join(' AND ')} ORDER BY ${order} LIMIT $1`,
    values,
  );
  const last = rows.length > page.limit ? rows[page.limit - 1] : undefined;
  const ids = rows.slice(0, page.limit).map((row) => row.id);
  return {
    data: await readKeys(context, ids),
    next: last ? `${last.revoked ? 1 : 0}.${placeText(last)}` : null,
  };
}

/** What keys can be ranked by. `s` is what each spent in 30 days, which only its own order reads. */
export const keyOrders = {
  name: { sql: 'lower(k.name)', type: 'text' },
  spend: { sql: 'coalesce(s.nano, 0)', type: 'bigint' },
  total: { sql: 'k.spent_nano', type: 'bigint' },
  lastUsed: timeOrder('k.last_used_at', 'earliest'),
  created: timeOrder('k.created_at'),
  expires: timeOrder('k.expires_at', 'latest'),
} as const satisfies Record<string, Order>;

/** A page of a workspace's keys in another order. It reads the workspace's keys and, for `spend`, their 30 days of usage. */
export async function pageOfSortedKeys(
  context: KeyReader & { readonly scope: WorkspaceScope },
  page: {
    conditions(values: unknown[]): string[];
    readonly sort: string;
    readonly after: string | undefined;
    readonly limit: number;
  },
): Promise<{ data: ShownKey[]; next: string | null }> {
  const { store, scope } = context;
  const values: unknown[] = [page.limit + 1];
  const where = [within(scope, 'k.workspace_id', values), 'k.session_id IS NULL', ...page.conditions(values)];
  const { place, orderBy, conditions } = keysetOf(keyOrders, page, 'k.id', values);
  const spent = /^-?spend$/.test(page.sort) ? [...(await readSpendOfAll(store, scope.workspaceId))] : null;
  const join = spent
    ? `LEFT JOIN unnest($${values.push(spent.map(([id]) => id))}::uuid[],
        $${values.push(spent.map(([, nano]) => String(nano)))}::bigint[]) AS s (id, nano) ON s.id = k.id`
    : '';
  const rows = await store.query<{ id: string; place: string }>(
    `SELECT k.id::text AS id, ${place} AS place FROM api_key k ${join}
     WHERE ${[...where, ...conditions].join(' AND ')} ORDER BY ${orderBy} LIMIT $1`,
    values,
  );
  const ids = rows.slice(0, page.limit).map(({ id }) => id);
  return { data: await readKeys(context, ids), next: nextOf(rows, page.limit, page.sort) };
}
