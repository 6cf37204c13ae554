import { z } from 'zod';
import { priceText } from '#lib/catalogue/difference';
import { listPrice } from '#lib/catalogue/price-table';
import { type ReadContext, read } from '#lib/control/declare';
import { optional } from '#lib/control/field/field';
import { document, words } from '#lib/control/field/kinds';
import { effectOf, shownEffect } from '#lib/control/price/effect';
import { notFound, quoted } from '#lib/control/refusal';
import { filePriceShape, isUnpriced, parsePrice, readFilePrice } from '#lib/schemas/price';

const model = words({ label: 'Model', help: 'Its slug.', placeholder: 'ID', example: 'openai/gpt-4.1' }, 200);
const provider = words({ label: 'Provider', help: 'Its id.', placeholder: 'ID', example: 'openai' }, 64);

const version = z.object({
  id: z.uuid().meta({ description: 'As "priceVersion" of a call names it.' }),
  model: z.string(),
  provider: z.string(),
  effectiveAt: z.iso
    .datetime()
    .meta({ description: 'Calls that were admitted from then on are charged so.' }),
  until: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'When the next one took its place; null: none has.' }),
  text: z.string().meta({ description: 'All of it in words; "unpriced": the offer was not routed to.' }),
  bands: z.array(
    z.object({
      tier: z.string(),
      aboveInputTokens: z
        .int()
        .nullable()
        .meta({ description: 'Input tokens; null: from the first one on.' }),
      rates: z.array(
        z.object({
          class: z.string(),
          variant: z.string().nullable(),
          unit: z.enum(['million tokens', 'one']),
          usd: z.string().meta({ description: 'Dollars as a decimal string.' }),
        }),
      ),
    }),
  ),
  source: z.string().nullable().meta({ description: 'Where the provider publishes its prices.' }),
  withdrawn: z.boolean().meta({ description: 'The offer is withdrawn.' }),
});
export type ShownPriceVersion = z.output<typeof version>;

/** Versions of one model that are told. */
const mostVersions = 500;

export const listPrices = read({
  name: 'price.list',
  summary: 'The prices that the offers of a model have and had, by provider, the newest first.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: { model, provider: optional(provider) },
  output: z.object({ data: z.array(version) }),
  http: [{ method: 'GET', path: '/prices' }],
  line: { arguments: ['model'], columns: ['provider', 'effectiveAt', 'until', 'text'] },
  run: async ({ store }, { model: modelId, provider: providerId }) => {
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
    const data = offers.flatMap((offer) =>
      offer.prices.map(({ id, price, effectiveAt }, at) => {
        const read = parsePrice(price);
        return {
          ...{ id, model: modelId, provider: offer.providerId },
          effectiveAt: effectiveAt.toISOString(),
          until: offer.prices[at - 1]?.effectiveAt.toISOString() ?? null,
          text: isUnpriced(read) ? 'unpriced' : priceText(read),
          bands: isUnpriced(read) ? [] : listPrice(read),
          source: offer.provider.pricesFrom,
          withdrawn: offer.withdrawnAt !== null,
        };
      }),
    );
    return { data };
  },
});

export const previewPrice = read({
  name: 'price.preview',
  summary: 'What another price of an offer would have made of its calls of the last 7 days; changes nothing.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: {
    model,
    provider,
    price: document(
      {
        label: 'Price',
        help: 'As the catalogue file writes it: decimal strings of dollars.',
        placeholder: 'FILE',
        example: { input: '2', output: '8' },
      },
      filePriceShape,
    ),
  },
  output: shownEffect.extend({ price: z.string().meta({ description: 'The price in words.' }) }),
  http: [],
  line: { arguments: ['model', 'provider'] },
  run: async (context, { model: modelId, provider: providerId, price }) => {
    const id = await offerIdOf(context, modelId, providerId);
    const wanted = readFilePrice(price);
    const effect = (await effectOf(context, new Map([[id, wanted]]))).get(id);
    if (effect === undefined) throw noOffer(modelId, providerId);
    return { price: isUnpriced(wanted) ? 'unpriced' : priceText(wanted), ...effect };
  },
});

export const priceOperations = [listPrices, previewPrice];

async function offerIdOf(
  { store }: ReadContext<'gateway'>,
  modelId: string,
  providerId: string,
): Promise<string> {
  const where = { modelId_providerId: { modelId, providerId } };
  const offer = await store.prisma.offer.findUnique({ where, select: { id: true } });
  if (offer) return offer.id;
  throw noOffer(modelId, providerId);
}

function noOffer(modelId: string, providerId: string | undefined) {
  const where = providerId === undefined ? '' : ` at ${quoted(providerId)}`;
  return notFound(
    `there is no offer of ${quoted(modelId)}${where}; "gateway catalogue list" has them`,
    'model',
  );
}
