import { z } from 'zod';
import { priceText } from '#lib/control/catalogue/difference';
import { listPrice, rateUnits } from '#lib/control/catalogue/price-table';
import { read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { effectOf, shownEffect } from '#lib/control/operations/price/effect';
import { noOffer, offerFields, offerOf } from '#lib/control/operations/price/offer';
import { setPrice, withdrawPrice } from '#lib/control/operations/price/set';
import { isUnpriced, parsePrice, readFilePrice } from '#lib/core/schemas/price';

const version = z.object({
  id: z.uuid().describe('The "priceVersion" of calls.'),
  model: z.string(),
  provider: z.string(),
  effectiveAt: z.iso.datetime().describe('In force for calls admitted from then on.'),
  until: z.iso.datetime().nullable().describe('When the next price replaced it; null: it was not replaced.'),
  text: z.string().describe('The whole price as text; "unpriced": the offer was not routed to.'),
  bands: z.array(
    z.object({
      tier: z.string(),
      aboveInputTokens: z.int().nullable().describe('Input tokens; null: from the first token.'),
      rates: z.array(
        z.object({
          class: z.string(),
          variant: z.string().nullable(),
          unit: z.enum(rateUnits),
          usd: z.string().describe('Dollars as a decimal string.'),
        }),
      ),
    }),
  ),
  source: z.string().nullable().describe('Where the provider publishes its prices.'),
  state: z
    .enum(['scheduled', 'in force', 'past'])
    .describe('Whether it is still to come, in force, or replaced.'),
  withdrawn: z.boolean().describe('Whether the offer is withdrawn.'),
});
export type ShownPriceVersion = z.output<typeof version>;

/** Maximum of price versions of one offer. */
const mostVersions = 500;

export const listPrices = read({
  name: 'price.list',
  summary: 'Lists current and former prices of the offers of a model, by provider, newest first.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: { model: offerFields.model, provider: optional(offerFields.provider) },
  output: z.object({ data: z.array(version) }),
  http: [{ method: 'GET', path: '/prices' }],
  line: { arguments: ['model'], columns: ['provider', 'effectiveAt', 'until', 'text'] },
  run: async ({ store, nowMs }, { model: modelId, provider: providerId }) => {
    const offers = await store.prisma.offer.findMany({
      where: { modelId, ...(providerId === undefined ? {} : { providerId }) },
      orderBy: [{ position: 'asc' }, { providerId: 'asc' }],
      include: {
        provider: { select: { pricesFrom: true } },
        prices: {
          orderBy: [{ effectiveAt: 'desc' }, { createdAt: 'desc' }, { id: 'desc' }],
          take: mostVersions,
        },
      },
    });
    if (offers.length === 0) throw noOffer(modelId, providerId);
    const data = offers.flatMap((offer) => {
      const inForce = offer.prices.findIndex(({ effectiveAt }) => effectiveAt.getTime() <= nowMs);
      return offer.prices.map(({ id, price, effectiveAt }, at) => {
        const read = parsePrice(price);
        return {
          id,
          model: modelId,
          provider: offer.providerId,
          effectiveAt: effectiveAt.toISOString(),
          until: offer.prices[at - 1]?.effectiveAt.toISOString() ?? null,
          text: isUnpriced(read) ? 'unpriced' : priceText(read),
          bands: isUnpriced(read) ? [] : listPrice(read),
          source: offer.provider.pricesFrom,
          state: stateOf(at, inForce),
          withdrawn: offer.withdrawnAt !== null,
        };
      });
    });
    return { data };
  },
});

export const previewPrice = read({
  name: 'price.preview',
  summary:
    'Shows what calls of an offer in the last 7 days would have cost with another price; changes nothing.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: offerFields,
  output: shownEffect.extend({ price: z.string().describe('The price as text.') }),
  line: { arguments: ['model', 'provider'] },
  run: async (context, { model: modelId, provider: providerId, price }) => {
    const { id } = await offerOf(context, modelId, providerId);
    const wanted = readFilePrice(price);
    const effect = (await effectOf(context, new Map([[id, wanted]]))).get(id);
    if (effect === undefined) throw noOffer(modelId, providerId);
    return { price: isUnpriced(wanted) ? 'unpriced' : priceText(wanted), ...effect };
  },
});

export const priceOperations = [listPrices, previewPrice, setPrice, withdrawPrice];

/**
 * @param at position of a version among those of its offer, newest first.
 * @param inForce position of the version in force; -1: all are still to come.
 */
function stateOf(at: number, inForce: number): ShownPriceVersion['state'] {
  if (at === inForce) return 'in force';
  return at > inForce && inForce >= 0 ? 'past' : 'scheduled';
}
