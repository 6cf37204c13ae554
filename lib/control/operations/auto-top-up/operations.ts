import { centsOf } from '#lib/control/billing/payments/cents';
import { autoTopUp, readAutoTopUp, stateOf, unset } from '#lib/control/operations/auto-top-up/find';
import { change, read } from '#lib/control/operations/declare';
import { allOptional } from '#lib/control/operations/field/field';
import { allowance, amount, toggle } from '#lib/control/operations/field/kinds';
import { badInput } from '#lib/control/operations/refusal';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { leastCents, mostCents } from '#lib/control/operations/top-up/operations';
import { paymentsOf } from '#lib/control/operations/top-up/page';

const path = '/workspaces/{workspace}/auto-top-up';
/** Ten million dollars: more than a month of the largest top-ups that Stripe's limits allow. */
const MOST_OF_MONTH = 1_000_000_000;

const fields = {
  enabled: toggle({
    label: 'Automatic top-ups',
    help: 'If on, you agree that the saved card is charged automatically within these limits.',
    example: false,
  }),
  threshold: allowance({
    label: 'Threshold',
    help: 'A balance at or below this orders a top-up, at once if it is already that low.',
    example: '5',
  }),
  amount: amount({
    label: 'Amount',
    help: 'Of each top-up: 5 to 10000 dollars, in whole cents.',
    example: '25',
  }),
  monthlyCap: amount({
    label: 'Monthly cap',
    help: 'The most that automatic top-ups add up to in a calendar month.',
    example: '100',
  }),
};

export const showAutoTopUp = read({
  name: 'auto-top-up.show',
  summary: 'Shows automatic top-ups of a workspace: limits, card, why they are paused, and the latest one.',
  reach: 'workspace',
  permission: 'billing:read',
  output: autoTopUp,
  state: ({ enabled, threshold, amount, monthlyCap }) => ({ enabled, threshold, amount, monthlyCap }),
  http: [{ method: 'GET', path }],
  line: { arguments: ['workspace'] },
  run: ({ store, scope, payments }) => readAutoTopUp(store, scope, payments?.livemode ?? true),
});

export const setAutoTopUp = change({
  name: 'auto-top-up.set',
  summary: 'Switches automatic top-ups on or off and sets their limits; omitted fields are unchanged.',
  reach: 'workspace',
  permission: 'billing:write',
  fields: allOptional(fields),
  output: autoTopUp,
  http: [{ method: 'PATCH', path }],
  line: { arguments: ['workspace'] },
  run: async ({ store, scope, payments, expect }, input) => {
    const { livemode } = paymentsOf(payments);
    const row = await lockRow(store, scope);
    const before = stateOf(row ?? unset);
    expect(before);
    const wanted = {
      enabled: input.enabled ?? row?.enabled ?? unset.enabled,
      thresholdNano: input.threshold ?? row?.thresholdNano ?? unset.thresholdNano,
      cents: input.amount === undefined ? (row?.cents ?? unset.cents) : centsIn('amount', input.amount),
      monthCents:
        input.monthlyCap === undefined
          ? (row?.monthCents ?? unset.monthCents)
          : centsIn('monthlyCap', input.monthlyCap),
    };
    if (wanted.cents < leastCents || wanted.cents > mostCents)
      throw badInput('amount', 'a top-up is 5 to 10000 dollars, in whole cents');
    if (wanted.monthCents < wanted.cents || wanted.monthCents > MOST_OF_MONTH)
      throw badInput(
        'monthlyCap',
        'the monthly cap must be at least one top-up and at most 10000000 dollars',
      );
    if (scope.demo) throw badInput(null, 'a demo workspace has only made-up money; use another workspace');
    const begins = wanted.enabled && !row?.enabled;
    if (begins) await mustHaveCard(store, scope, livemode);
    await store.execute(write, [
      scope.workspaceId,
      wanted.enabled,
      `${wanted.thresholdNano}`,
      wanted.cents,
      wanted.monthCents,
    ]);
    return {
      result: await readAutoTopUp(store, scope, livemode),
      subject: scope.workspaceId,
      before,
      after: stateOf(wanted),
    };
  },
});

/** With new limits, a top-up no longer waits for the next month. */
const write = `
  INSERT INTO auto_top_up (workspace_id, enabled, threshold_nano, cents, month_cents)
  VALUES ($1::uuid, $2::boolean, $3::bigint, $4::int, $5::int)
  ON CONFLICT (workspace_id) DO UPDATE SET enabled = excluded.enabled, threshold_nano = excluded.threshold_nano,
    cents = excluded.cents, month_cents = excluded.month_cents, waits_until = NULL`;

export const resumeAutoTopUp = change({
  name: 'auto-top-up.resume',
  summary: 'Resumes paused automatic top-ups; a balance at or below the threshold orders one at once.',
  reach: 'workspace',
  permission: 'billing:write',
  output: autoTopUp,
  http: [{ method: 'POST', path: `${path}/resume` }],
  line: { arguments: ['workspace'] },
  run: async ({ store, scope, payments }) => {
    const { livemode } = paymentsOf(payments);
    const row = await lockRow(store, scope);
    const paused = row?.pausedReason ?? null;
    if (paused !== null) {
      await mustHaveCard(store, scope, livemode);
      await store.execute(
        `UPDATE auto_top_up SET paused_at = NULL, paused_reason = NULL, paused_detail = NULL
         WHERE workspace_id = $1::uuid`,
        [scope.workspaceId],
      );
    }
    return {
      result: await readAutoTopUp(store, scope, livemode),
      subject: scope.workspaceId,
      before: { paused },
      after: { paused: null },
    };
  },
});

const lock = 'SELECT 1 AS one FROM auto_top_up WHERE workspace_id = $1::uuid FOR UPDATE';

async function lockRow(store: Store, { workspaceId }: WorkspaceScope) {
  await store.query(lock, [workspaceId]);
  return store.prisma.autoTopUp.findUnique({ where: { workspaceId } });
}

async function mustHaveCard(store: Store, { workspaceId }: WorkspaceScope, livemode: boolean): Promise<void> {
  const payer = await store.prisma.payer.findUnique({
    where: { workspaceId_livemode: { workspaceId, livemode } },
  });
  if (payer?.paymentMethod) return;
  throw badInput(null, 'no card is saved; top up once with "Save the card" on, then switch this on');
}

function centsIn(field: 'amount' | 'monthlyCap', nano: bigint): number {
  const cents = centsOf(nano);
  if (cents === null || cents <= 0) throw badInput(field, 'must be more than 0 dollars, in whole cents');
  return cents;
}

export const autoTopUpOperations = [showAutoTopUp, setAutoTopUp, resumeAutoTopUp];
