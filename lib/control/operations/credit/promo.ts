import { z } from 'zod';
import { grantPromo } from '#lib/control/billing/promo/grant';
import { isPosted, ownRef } from '#lib/control/operations/credit/own-ref';
import { create, read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { amount, expiry, words } from '#lib/control/operations/field/kinds';
import { limitOf, pageOf, paging, placeOf, placeText } from '#lib/control/operations/field/paging';
import { badInput } from '#lib/control/operations/refusal';
import { type WorkspaceScope, within } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { formatUsd } from '#lib/core/money';
import { newRowId } from '#lib/platform/data/row-id';

/** A million dollars: a guard against typing errors. */
const largestNano = 1_000_000n * 1_000_000_000n;

export const grantCredit = create({
  name: 'credit.promo',
  summary: 'Gives a workspace promo credit, which is spent before any other money.',
  reach: 'workspace',
  permission: 'gateway:write',
  fields: {
    amount: amount({ label: 'Amount', help: 'More than 0.', example: '25' }),
    reason: words({ label: 'Reason', help: 'Shown in the ledger.', example: 'Launch credit' }),
    expiresAt: optional(
      expiry({
        label: 'Expires',
        help: 'The rest is then removed from the balance. A date includes that day, in the workspace’s time zone.',
        flag: 'expires',
        example: '2027-01-31T23:59:59Z',
      }),
    ),
    ref: ownRef,
  },
  output: z.object({
    ref: z.string().describe('The "ref" of its line in the ledger.'),
    amount: z.string().describe('Dollars as a decimal string.'),
    expiresAt: z.iso.datetime().nullable(),
  }),
  http: [{ method: 'POST', path: '/workspaces/{workspace}/promos' }],
  line: { arguments: ['workspace', 'amount'] },
  text: ({ amount: usd, expiresAt }) =>
    `${usd} USD given${expiresAt === null ? '' : `; the rest expires ${expiresAt}`}`,
  run: async ({ store, scope }, { amount: amountNano, reason, expiresAt = null, ref = newRowId() }) => {
    const { workspaceId, demo } = scope;
    if (amountNano <= 0n || amountNano > largestNano) {
      throw badInput(
        'amount',
        `promo credit must be more than 0 and at most ${formatUsd(largestNano)} dollars`,
      );
    }
    if (demo) throw badInput(null, 'a demo workspace has only made-up money; choose another workspace');
    const sql = { query: (text: string, values: unknown[]) => store.execute(text, values) };
    const credit = { workspaceId, ref, amountNano, reason, expiresAt };
    const changes = await grantPromo(sql, credit);
    if (changes === null) await isPosted(store, { ...credit, kind: 'promo' });
    const given = { amount: formatUsd(amountNano), expiresAt: expiresAt?.toISOString() ?? null };
    const after = { ...given, reason };
    return {
      result: { ref, ...given },
      subject: ref,
      before: changes === null ? after : null,
      after,
      changes: changes ?? [],
    };
  },
});

const promo = z.object({
  id: z.uuid(),
  ref: z.string(),
  reason: z.string().nullable(),
  amount: z.string().describe('The original amount, dollars as a decimal string.'),
  left: z.string().describe('Not spent yet; 0 once it has ended.'),
  expired: z.string().describe('Left over when it expired.'),
  grantedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable().describe('When the rest was removed; null: still in force.'),
});
export type ShownPromo = z.output<typeof promo>;

export const listPromos = read({
  name: 'credit.promos',
  summary: 'Lists the promo credits of a workspace that expire, newest first.',
  reach: 'workspace',
  permission: 'workspace:read',
  fields: paging,
  output: pageOf(promo),
  http: [{ method: 'GET', path: '/workspaces/{workspace}/promos' }],
  line: { columns: ['grantedAt', 'amount', 'left', 'expired', 'expiresAt', 'reason'] },
  run: ({ store, scope }, input) => pageOfPromos(store, scope, limitOf(input), input.after),
});

interface StoredPromo extends Omit<ShownPromo, 'grantedAt' | 'expiresAt' | 'endedAt'> {
  readonly grantedAt: Date;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
}

/** What is left: as last counted, minus what was used since; credit that expires first is spent first. */
async function pageOfPromos(store: Store, scope: WorkspaceScope, limit: number, after: string | undefined) {
  const values: unknown[] = [limit + 1];
  const own = within(scope, 'workspace_id', values);
  const where = [own];
  if (after !== undefined) {
    const place = placeOf(after, 'a page of promo credits');
    values.push(place.at, place.id);
    where.push(`(granted_at, id) < ($${values.length - 1}::timestamptz, $${values.length}::uuid)`);
  }
  const found = await store.query<StoredPromo>(
    `SELECT p.id::text AS id, p.ref, l.reason, p.amount_nano::text AS amount, p.expired_nano::text AS expired,
       p.granted_at AS "grantedAt", p.expires_at AS "expiresAt", p.ended_at AS "endedAt",
       CASE WHEN p.ended_at IS NULL THEN greatest(0, least(p.left_nano, live.upto - coalesce(promo_used(p.workspace_id), 0)))
         ELSE 0 END::text AS left
     FROM (SELECT * FROM promo WHERE ${where.join(' AND ')} ORDER BY granted_at DESC, id DESC LIMIT $1) AS p
     LEFT JOIN (SELECT id, sum(left_nano) OVER (ORDER BY expires_at, id) AS upto FROM promo
       WHERE ${own} AND ended_at IS NULL) AS live ON live.id = p.id
     LEFT JOIN ledger_line l ON l.kind = 'promo' AND l.ref = p.ref
     ORDER BY p.granted_at DESC, p.id DESC`,
    values,
  );
  const usd = (nano: string) => formatUsd(BigInt(nano));
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    data: rows.map((row) => ({
      ...row,
      amount: usd(row.amount),
      left: usd(row.left),
      expired: usd(row.expired),
      grantedAt: row.grantedAt.toISOString(),
      expiresAt: row.expiresAt.toISOString(),
      endedAt: row.endedAt?.toISOString() ?? null,
    })),
    next: last ? placeText({ at: last.grantedAt, id: last.id }) : null,
  };
}
