import { z } from 'zod';
import { pauseReasons } from '#lib/control/billing/auto/pause';
import { nanoOf } from '#lib/control/billing/payments/cents';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { shownTopUp, topUp } from '#lib/control/operations/top-up/find';
import { formatUsd } from '#lib/core/money';

const dollars = (description: string) => z.string().describe(`${description}, dollars.`);

/** What users can change; the entity tag and audit rows are built from it. */
const settings = {
  enabled: z.boolean(),
  threshold: dollars('A balance at or below this orders a top-up'),
  amount: dollars('Credited by each top-up'),
  monthlyCap: dollars(
    'The most that automatic top-ups credit in a calendar month of the workspace’s time zone',
  ),
};

export const autoTopUp = z.object({
  ...settings,
  card: z
    .object({ brand: z.string(), last4: z.string(), expires: z.string() })
    .nullable()
    .describe('The card to charge; null: none is saved.'),
  paused: z
    .object({ reason: z.enum(pauseReasons), detail: z.string().nullable(), at: z.iso.datetime() })
    .nullable()
    .describe('Why automatic top-ups are paused; null: they are not.'),
  balance: dollars('Compared with the threshold'),
  ordered: z
    .boolean()
    .describe('Whether a top-up is ordered but not paid yet; until then, no other one is ordered.'),
  waitsUntil: z.iso.datetime().nullable().describe('The monthly cap is used up until then.'),
  thisMonth: dollars('Credited by automatic top-ups so far this month'),
  last: topUp.nullable().describe('The latest automatic top-up.'),
});
export type ShownAutoTopUp = z.output<typeof autoTopUp>;

/** The settings of a workspace that has never set them. */
export const unset = {
  enabled: false,
  thresholdNano: 5_000_000_000n,
  cents: 2_500,
  monthCents: 10_000,
};

type Settings = typeof unset;

export function stateOf({ enabled, thresholdNano, cents, monthCents }: Settings) {
  return {
    enabled,
    threshold: formatUsd(thresholdNano),
    amount: formatUsd(nanoOf(cents)),
    monthlyCap: formatUsd(nanoOf(monthCents)),
  };
}

const monthOf = `
  SELECT coalesce(sum(t.cents), 0)::text AS cents FROM top_up t JOIN workspace w ON w.id = t.workspace_id
  WHERE t.workspace_id = $1::uuid AND t.auto AND t.status IN ('open', 'paid', 'refunded')
    AND t.created_at >= date_trunc('month', now() AT TIME ZONE w.time_zone) AT TIME ZONE w.time_zone`;

export async function readAutoTopUp(
  store: Store,
  { workspaceId }: WorkspaceScope,
  livemode: boolean,
): Promise<ShownAutoTopUp> {
  // One after another: inside a transaction they share a connection.
  const row = await store.prisma.autoTopUp.findUnique({ where: { workspaceId } });
  const payer = await store.prisma.payer.findUnique({
    where: { workspaceId_livemode: { workspaceId, livemode } },
  });
  const last = await store.prisma.topUp.findFirst({
    where: { workspaceId, auto: true },
    orderBy: { id: 'desc' },
  });
  const [month] = await store.query<{ cents: string }>(monthOf, [workspaceId]);
  const funds = await store.prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId } });
  const waits = row?.waitsUntil && row.waitsUntil.getTime() > Date.now() ? row.waitsUntil : null;
  const reason = pauseReasons.find((one) => one === row?.pausedReason);
  return {
    ...stateOf(row ?? unset),
    card: payer?.cardLast4
      ? { brand: payer.cardBrand ?? 'card', last4: payer.cardLast4, expires: payer.cardExpires ?? '' }
      : null,
    paused:
      row?.pausedAt && reason ? { reason, detail: row.pausedDetail, at: row.pausedAt.toISOString() } : null,
    balance: formatUsd(funds.balanceNano - (livemode ? funds.simulatedNano : 0n)),
    ordered: row?.orderId != null,
    waitsUntil: waits?.toISOString() ?? null,
    thisMonth: formatUsd(nanoOf(Number(month?.cents ?? 0))),
    last: last ? shownTopUp(last) : null,
  };
}
