import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { isRetired } from '#lib/core/facts/retired';
import { type OfferHealth, offerState } from '#lib/gateway/routing/health';

const shownOffer = z.object({
  model: z.string(),
  provider: z.string(),
  state: z.enum(['in service', 'set aside', 'probing']),
  until: z.iso.datetime().nullable().describe('Set aside until then.'),
  firstByteMs: z.number().nullable().describe('Smoothed time to the first byte of streams, ms.'),
  wholeMs: z.number().nullable().describe('Smoothed time of whole answers, ms.'),
  tokensPerSecond: z.number().nullable().describe('Smoothed output tokens per second.'),
  errorRate: z.number().describe('Share of its latest attempts that failed, from 0 to 1.'),
  failures: z.int().describe('Consecutive failures.'),
});

/** Reveals nothing about who calls an offer, or how much. */
export const showHealth = read({
  name: 'route.health',
  summary: 'Shows the state of the offers that processes of this machine have called, failing offers first.',
  reach: 'workspace',
  permission: 'policies:read',
  output: z.object({
    processes: z.int().describe('How many processes answered; 0: the state is unknown.'),
    offers: z.array(shownOffer),
  }),
  http: [{ method: 'GET', path: '/workspaces/{workspace}/offers/health' }],
  run: async (context) => {
    const catalogue = await context.catalogue();
    const { processes, of } = await context.health();
    const offers = [...catalogue.models.values()].flatMap((model) =>
      model.offers.flatMap((offer) => {
        const { id, provider } = offer;
        const health = of(id);
        if (!wasTried(health) || isRetired(offer, context.nowMs)) return [];
        const aside = health.openUntilMs > context.nowMs;
        return [
          {
            model: model.id,
            provider: provider.id,
            state: offerState(health, context.nowMs),
            until: aside ? new Date(health.openUntilMs).toISOString() : null,
            firstByteMs: health.streamFirstByteMs.value,
            wholeMs: health.wholeMs.value,
            tokensPerSecond: health.tokensPerSecond.value,
            errorRate: health.errorRate,
            failures: health.failures,
          },
        ];
      }),
    );
    const rank = { 'set aside': 0, probing: 1, 'in service': 2 } as const;
    offers.sort((one, other) => rank[one.state] - rank[other.state] || other.errorRate - one.errorRate);
    return { processes, offers };
  },
});

/** Whether any attempt was made: Next's copy of the module has its own object for an offer without attempts. */
function wasTried(health: OfferHealth): boolean {
  const { streamFirstByteMs, wholeMs, tokensPerSecond, failures, running, errorRate, openUntilMs } = health;
  const figures = [streamFirstByteMs.value, wholeMs.value, tokensPerSecond.value];
  return failures + running + errorRate + openUntilMs > 0 || figures.some((value) => value !== null);
}
