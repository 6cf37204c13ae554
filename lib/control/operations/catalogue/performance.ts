import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { words } from '#lib/control/operations/field/kinds';
import { notFound, quoted } from '#lib/control/operations/refusal';
import { figuresOf } from '#lib/control/operations/usage/figures';
import { widened } from '#lib/control/operations/usage/range';
import { merged } from '#lib/control/operations/usage/report';
import { noSums, readUsage, type Sums } from '#lib/control/operations/usage/sums';
import { isRetired } from '#lib/core/facts/retired';
import { offerState } from '#lib/gateway/routing/health';

const days = 7;
const dayMs = 86_400_000;

const quantiles = z
  .object({
    p50: z.number().describe('Half of the calls took at most this long, ms.'),
    p95: z.number().describe('95% of the calls took at most this long, ms.'),
  })
  .nullable()
  .describe('In ms, within 5%; null: no data.');

const performance = z.object({
  model: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  health: z.enum(['live', 'unknown']).describe('unknown: no gateway process answered.'),
  offers: z.array(
    z.object({
      provider: z.string(),
      state: z.enum(['in service', 'set aside', 'probing']),
      tokensPerSecond: z
        .number()
        .nullable()
        .describe('Output, as recently measured by the gateway process; null: not measured yet.'),
      calls: z.int().describe('Calls of the workspace that this offer answered.'),
      uptime: z
        .number()
        .nullable()
        .describe(
          'Share of these calls without an error, timeout or broken answer of the provider; null: no calls.',
        ),
      latencyMs: quantiles,
      firstByteMs: quantiles,
    }),
  ),
});
export type ModelPerformance = z.output<typeof performance>;

/** How each offer of a model has done for a workspace; calls of other workspaces are not included. */
export const modelPerformance = read({
  name: 'model.performance',
  summary: 'Shows how the offers of a model performed for a workspace in the last 7 days.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: {
    model: words({ label: 'Model', help: 'Its slug.', placeholder: 'ID', example: 'openai/gpt-4.1' }, 200),
  },
  output: performance,
  http: [{ method: 'GET', path: '/workspaces/{workspace}/models/{model}/performance' }],
  run: async (context, { model }) => {
    const { store, scope, nowMs } = context;
    const found = (await context.catalogue()).models.get(model);
    if (!found) throw notFound(`there is no model ${quoted(model)}; GET /api/v1/models lists them`, 'model');
    const asked = { fromMs: nowMs - days * dayMs, toMs: nowMs };
    const range = widened(asked, scope.timeZone, nowMs);
    const parts = await readUsage(store, scope, { range, split: 'provider', filters: { model } });
    const byProvider = new Map(merged(parts, ({ value }) => value).map(({ value, sums }) => [value, sums]));
    const health = await context.health();
    return {
      model,
      from: new Date(range.fromMs).toISOString(),
      to: new Date(range.toMs).toISOString(),
      health: health.processes > 0 ? ('live' as const) : ('unknown' as const),
      offers: found.offers
        .filter((offer) => !isRetired(offer, nowMs))
        .map((offer) => {
          const live = health.of(offer.id);
          const sums = byProvider.get(offer.provider.id) ?? noSums();
          const figures = figuresOf(sums);
          return {
            provider: offer.provider.id,
            state: offerState(live, nowMs),
            tokensPerSecond: sums.calls > 0 ? live.tokensPerSecond.value : null,
            calls: sums.calls,
            uptime: uptimeOf(sums),
            latencyMs: figures.latencyMs,
            firstByteMs: figures.firstByteMs,
          };
        }),
    };
  },
});

/** Refusals and the client's own errors say nothing about a provider. */
function uptimeOf({ calls, refused, errors }: Sums): number | null {
  const answered = calls - refused;
  if (answered <= 0) return null;
  return Math.max(0, answered - errors.provider - errors.timeout - errors.broken) / answered;
}
