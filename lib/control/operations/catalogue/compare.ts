import { z } from 'zod';
import { compareWithin, leftOutOf } from '#lib/control/catalogue/apply';
import { priceText } from '#lib/control/catalogue/difference';
import { checkCatalogue } from '#lib/control/catalogue/files';
import { catalogueFiles } from '#lib/control/operations/catalogue/apply';
import { read } from '#lib/control/operations/declare';
import { effectOf, shownEffect } from '#lib/control/operations/price/effect';
import { badInput } from '#lib/control/operations/refusal';
import type { Price } from '#lib/core/metering/price-list';
import { FileRefused } from '#lib/core/schemas/document';

/** The most prices to try on last week's calls at once. */
const mostPrices = 200;
const unpriced: Price = { base: {}, tiers: [], serviceTiers: {} };

export const compareCatalogueOperation = read({
  name: 'catalogue.compare',
  summary:
    'Shows what applying catalogue files would change, and what calls of the last 7 days would have cost with the new prices.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: { files: catalogueFiles },
  output: z.object({
    changes: z
      .array(z.string())
      .describe('One line for each provider, credential, model or offer that differs.'),
    leftOut: z
      .array(z.string())
      .describe(
        'Offers and credentials that the files omit, although they list the provider or its pool; prune withdraws them.',
      ),
    prices: z
      .array(
        shownEffect.extend({
          model: z.string(),
          provider: z.string(),
          before: z.string(),
          after: z.string(),
        }),
      )
      .describe(`Changed prices of offers, at most ${mostPrices}.`),
  }),
  line: { arguments: ['files'] },
  run: async (context, { files }) => {
    const { store, sealingKey } = context;
    try {
      const { difference, stored } = await compareWithin(store.prisma, checkCatalogue(files), sealingKey);
      const changed = difference.offers
        .flatMap(({ id, modelId, providerId, price }) => {
          if (id === null || price === undefined) return [];
          const before = stored.offers.get(`${modelId} ${providerId}`)?.price ?? null;
          return before === null ? [] : [{ id, modelId, providerId, before, after: price }];
        })
        .slice(0, mostPrices);
      const effects = await effectOf(
        context,
        new Map(changed.map(({ id, after }) => [id, after ?? unpriced])),
      );
      return {
        changes: difference.lines.map(({ text }) => text),
        leftOut: leftOutOf(difference),
        prices: changed.flatMap(({ id, modelId, providerId, before, after }) => {
          const effect = effects.get(id);
          const texts = { before: priceText(before), after: priceText(after) };
          return effect ? { model: modelId, provider: providerId, ...texts, ...effect } : [];
        }),
      };
    } catch (error) {
      throw error instanceof FileRefused ? badInput('files', error.message) : error;
    }
  },
});
