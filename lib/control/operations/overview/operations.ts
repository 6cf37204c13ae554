import { z } from 'zod';
import { fundsNano } from '#lib/control/billing/low-balance';
import { read } from '#lib/control/operations/declare';
import { findNearCaps, usedOf } from '#lib/control/operations/overview/caps';
import { dollars } from '#lib/control/operations/usage/figures';
import { readUsage, totalOf } from '#lib/control/operations/usage/sums';
import { availableNano, heldNano } from '#lib/control/operations/workspace/find';
import { getMonth, shownMonth } from '#lib/control/operations/workspace/month';
import { isRetired } from '#lib/core/facts/retired';
import { formatUsd } from '#lib/core/money';
import { offerState } from '#lib/gateway/routing/health';
import { quarterMs } from '#lib/gateway/settlement/pure/quarter';

const paceDays = 7;
const dayMs = 86_400_000;
const mostShown = 5;

/** What users need to know first when they open the console. */
const shownOverview = z.object({
  called: z.boolean().describe('Whether the workspace has ever made a call.'),
  available: dollars.describe('Balance plus credit minus what is held.'),
  held: dollars.describe('By running calls and jobs.'),
  topUpsPaused: z
    .object({ reason: z.string(), detail: z.string().nullable(), at: z.iso.datetime() })
    .nullable()
    .describe('Since when and why automatic top-ups are paused; null: they are not, or are off.'),
  simulated: dollars.describe(
    'The part of the balance that is simulated money, which pays only the simulated provider.',
  ),
  month: shownMonth,
  lowBalance: dollars
    .nullable()
    .describe('The low-balance threshold, if the funds are below it; otherwise null.'),
  perDay: dollars.describe(`Average cost of a day in the last ${paceDays} days.`),
  daysLeft: z
    .number()
    .nullable()
    .describe('How long the funds last at that pace; null: nothing was spent, or nothing is left.'),
  caps: z
    .array(
      z.object({
        key: z.uuid(),
        name: z.string(),
        span: z.enum(['day', 'd7', 'd30', 'quota']),
        spent: dollars,
        cap: dollars,
        used: z.number().describe('Used share of the cap: 1 is all of it.'),
      }),
    )
    .describe('Caps and quotas that are at 80% or more, fullest first.'),
  offers: z
    .array(z.object({ model: z.string(), provider: z.string(), state: z.enum(['set aside', 'probing']) }))
    .describe('Offers of models in use that the breaker keeps out of service.'),
});

export type Overview = z.output<typeof shownOverview>;

interface Money {
  readonly available: string;
  readonly held: string;
  readonly simulated: string;
  readonly low: string | null;
  readonly called: boolean;
}

/**
 * Whether a workspace `w` has a row in a table. It asks for the first row from its id on, which only an index finds: with
 * `EXISTS`, the planner reads the whole table if most rows belong to one busy workspace, and a new one waits for that.
 */
const hasRow = (table: 'call' | 'usage_day') =>
  `coalesce((SELECT r.workspace_id FROM ${table} r WHERE r.workspace_id >= w.id ORDER BY r.workspace_id LIMIT 1) = w.id, false)`;

/** The state of a workspace: its money, what is near a limit, and what is failing. */
export const showOverview = read({
  name: 'workspace.overview',
  summary:
    'Shows how long the funds of a workspace last, which caps are nearly used up, and which of its offers are failing.',
  reach: 'workspace',
  permission: 'logs:read',
  output: shownOverview,
  run: async (context) => {
    const { store, scope, nowMs } = context;
    const toMs = Math.floor(nowMs / quarterMs + 1) * quarterMs;
    const [month, [money], [paused], parts, caps, catalogue, health] = await Promise.all([
      getMonth(store, scope.workspaceId, nowMs),
      store.query<Money>(
        `SELECT (${availableNano})::text AS available, (${heldNano})::text AS held, w.simulated_nano::text AS simulated,
           CASE WHEN ${fundsNano} < w.low_balance_nano THEN w.low_balance_nano END::text AS low,
           ${hasRow('call')} OR ${hasRow('usage_day')} AS called
         FROM workspace w WHERE w.id = $1::uuid`,
        [scope.workspaceId],
      ),
      store.query<{ reason: string; detail: string | null; at: Date }>(
        `SELECT paused_reason AS reason, paused_detail AS detail, paused_at AS at FROM auto_top_up
         WHERE workspace_id = $1::uuid AND enabled AND paused_at IS NOT NULL`,
        [scope.workspaceId],
      ),
      readUsage(store, scope, {
        range: { fromMs: toMs - paceDays * dayMs, toMs },
        split: 'model',
        durations: false,
      }),
      findNearCaps(store, scope),
      context.catalogue(),
      context.health(),
    ]);
    const perDayNano = totalOf(parts).costNano / BigInt(paceDays);
    const freeNano = BigInt(money?.available ?? 0);
    const used = new Set(parts.map(({ value }) => value));
    const offers = [...catalogue.models.values()]
      .filter(({ id }) => used.has(id))
      .flatMap((model) =>
        model.offers.flatMap((offer) => {
          const { id, provider } = offer;
          const state = offerState(health.of(id), nowMs);
          return state === 'in service' || isRetired(offer, nowMs)
            ? []
            : [{ model: model.id, provider: provider.id, state }];
        }),
      );
    return {
      called: money?.called ?? false,
      available: formatUsd(freeNano),
      held: formatUsd(BigInt(money?.held ?? 0)),
      topUpsPaused: paused ? { ...paused, at: paused.at.toISOString() } : null,
      simulated: formatUsd(BigInt(money?.simulated ?? 0)),
      month,
      lowBalance: money?.low == null ? null : formatUsd(BigInt(money.low)),
      perDay: formatUsd(perDayNano),
      daysLeft: perDayNano > 0n && freeNano > 0n ? Number(freeNano) / Number(perDayNano) : null,
      caps: caps.slice(0, mostShown).map((cap) => ({
        key: cap.id,
        name: cap.name,
        span: cap.span,
        spent: formatUsd(cap.spentNano),
        cap: formatUsd(cap.capNano),
        used: usedOf(cap),
      })),
      offers: offers.slice(0, mostShown),
    };
  },
});

export const overviewOperations = [showOverview];
