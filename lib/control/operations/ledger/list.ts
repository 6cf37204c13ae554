import { z } from 'zod';
import { keysetOf, nextOf, placeOf, placeText } from '#lib/control/operations/field/paging';
import { rangeOf } from '#lib/control/operations/ledger/month';
import { type WorkspaceScope, within } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { formatUsd } from '#lib/core/money';

const dollars = (description: string) => z.string().describe(description);

/** Kinds of lines, the most common first. */
export const lineKinds = ['usage', 'top_up', 'promo', 'expiry', 'refund', 'dispute', 'adjustment'] as const;

/** The time by which lines are in order: usage stands after the other lines of its quarter of an hour. */
const placeSql = 'ledger_place(at, kind)';

/** A line as "ledger list" shows it (contract: operations/ledger-list). */
export const ledgerLine = z.object({
  id: z.uuid(),
  at: z.iso.datetime().describe('When it was posted; for usage, the start of its quarter of an hour.'),
  kind: z.enum(lineKinds),
  amount: dollars('Dollars as a signed decimal string; charges are negative.'),
  simulated: dollars(
    'The part of the amount that is simulated money, which pays only the simulated provider.',
  ),
  balance: dollars('The balance after this line.'),
  calls: z.int().nullable().describe('For usage: number of calls and jobs.'),
  reason: z.string().nullable(),
  ref: z.string().describe('What the line is for: a quarter of an hour, a call, an order or a posting.'),
  call: z.uuid().nullable().describe('For an adjustment of a call: that call.'),
  topUp: z.uuid().nullable().describe('For a top-up or its refund: the order.'),
  receiptUrl: z.string().nullable().describe('The receipt of that order, for roles that may see payments.'),
});
export type LedgerLine = z.output<typeof ledgerLine>;

interface StoredLine extends Omit<LedgerLine, 'at'> {
  readonly at: Date;
  /** Its time in the order of the ledger: see `ledger_place`. */
  readonly placedAt: Date;
  /** Nano-dollars. */
  readonly place: string;
}

export const ledgerOrders = ['oldest', 'newest', 'largest', 'smallest'] as const;

/** By amount; by time, pages have places of their own. */
const byAmount = { amount: { sql: 'amount_nano', type: 'bigint' } } as const;

/** Which lines to return, and in which order. */
export interface LedgerQuestion {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly month?: string | undefined;
  readonly kind?: LedgerLine['kind'] | undefined;
  readonly order?: (typeof ledgerOrders)[number] | undefined;
  readonly after?: string | undefined;
}

/** The order `t` of a top-up or a refund, the line `p`. */
export const joinOrder = `LEFT JOIN top_up t ON p.kind IN ('top_up', 'refund') AND t.workspace_id = p.workspace_id
       AND t.payment_intent = split_part(p.ref, ':', 1)`;

/** Stripe's ids of payments and disputes are only for operators: a line shows its order or, without one, its own id. */
export const shownRef = `CASE WHEN t.id IS NOT NULL THEN t.id || substr(p.ref, length(t.payment_intent) + 1)
         WHEN p.kind IN ('top_up', 'refund', 'dispute') THEN p.id::text ELSE p.ref END`;

/**
 * A page of a workspace's ledger, each line with the balance after it, whatever the filters. Usage stands
 * after the other lines of its quarter, so that no balance is below zero that never was. A balance is the sum of the days before and of the lines of its own day: exact, and never a scan of all lines.
 * @param receipts whether receipts may be shown.
 * @throws ControlRefused (invalid_body) for an invalid `after`, or a month together with a range.
 */
export async function pageOfLedger(
  store: Store,
  scope: WorkspaceScope,
  question: LedgerQuestion,
  { limit, receipts }: { readonly limit: number; readonly receipts: boolean },
): Promise<{ data: LedgerLine[]; next: string | null }> {
  const { from, to } = rangeOf(question, scope.timeZone);
  const { after, order } = question;
  const values: unknown[] = [limit + 1];
  const workspace = within(scope, 'workspace_id', values);
  const given = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
  const where = [workspace];
  if (question.kind) where.push(`kind = ${given(question.kind, 'text')}`);
  if (from) where.push(`at >= ${given(from, 'timestamptz')}`);
  if (to) where.push(`at < ${given(to, 'timestamptz')}`);
  const sort = order === 'largest' ? '-amount' : order === 'smallest' ? 'amount' : null;
  let orderBy = order === 'newest' ? `${placeSql} DESC, id DESC` : `${placeSql}, id`;
  if (sort) {
    const keyset = keysetOf(byAmount, { sort, after }, 'id', values);
    where.push(...keyset.conditions);
    ({ orderBy } = keyset);
  } else if (after !== undefined) {
    const place = placeOf(after, 'a page of the ledger');
    const [at, id] = [given(place.at, 'timestamptz'), given(place.id, 'uuid')];
    where.push(`(${placeSql}, id) ${order === 'newest' ? '<' : '>'} (${at}, ${id})`);
  }
  // A single statement, because a usage line may grow between two.
  const found = await store.query<StoredLine>(
    `WITH page AS (
       SELECT *, row_number() OVER (ORDER BY ${orderBy}) AS position FROM ledger_line WHERE ${where.join(' AND ')} ORDER BY ${orderBy} LIMIT $1
     ), touched AS (
       SELECT DISTINCT date_trunc('day', at, 'UTC') AS day FROM page
     ), before AS (
       SELECT day, sum(amount_nano) OVER (ORDER BY day) - amount_nano AS nano FROM ledger_day WHERE ${workspace}
     ), within_day AS (
       SELECT l.id, t.day, sum(l.amount_nano) OVER (PARTITION BY t.day ORDER BY ledger_place(l.at, l.kind), l.id) AS nano
       FROM touched t JOIN ledger_line l
         ON l.${workspace} AND l.at >= t.day AND l.at < t.day + interval '24 hours'
     )
     SELECT p.id::text AS id, p.at, ledger_place(p.at, p.kind) AS "placedAt", p.kind, ${shownRef} AS ref,
       p.amount_nano::text AS amount, p.amount_nano::text AS place,
       p.simulated_nano::text AS simulated, p.calls, p.reason,
       (before.nano + within_day.nano)::text AS balance,
       CASE WHEN p.kind = 'adjustment' AND p.key_id IS NOT NULL THEN split_part(p.ref, ':', 1) END AS call,
       t.id::text AS "topUp", t.receipt_url AS "receiptUrl"
     FROM page p JOIN within_day USING (id) JOIN before ON before.day = within_day.day
     ${joinOrder}
     ORDER BY p.position`,
    values,
  );
  const last = found.length > limit ? found[limit - 1] : undefined;
  const nextByTime = last ? placeText({ at: last.placedAt, id: last.id }) : null;
  return {
    data: found.slice(0, limit).map((line) => shown(line, receipts)),
    next: sort ? nextOf(found, limit, sort) : nextByTime,
  };
}

function shown({ place: _, placedAt: __, ...line }: StoredLine, receipts: boolean): LedgerLine {
  return {
    ...line,
    at: line.at.toISOString(),
    amount: formatUsd(BigInt(line.amount)),
    simulated: formatUsd(BigInt(line.simulated)),
    balance: formatUsd(BigInt(line.balance)),
    receiptUrl: receipts ? line.receiptUrl : null,
  };
}
