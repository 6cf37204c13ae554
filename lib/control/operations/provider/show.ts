import { z } from 'zod';
import { priceText } from '#lib/control/catalogue/difference';
import { whyUnavailable } from '#lib/control/catalogue/list';
import { read } from '#lib/control/operations/declare';
import { noProvider, providerField } from '#lib/control/operations/provider/credential';
import { readProviders, shownProvider } from '#lib/control/operations/provider/list';
import { storedFamiliesShape } from '#lib/core/schemas/catalogue';
import { isUnpriced, parsePrice } from '#lib/core/schemas/price';

const offer = z.object({
  model: z.string().describe('The slug.'),
  name: z.string(),
  upstreamModel: z.string().describe('The name of the model at the provider.'),
  families: z.array(z.string()).describe('The protocols in which it is offered.'),
  price: z.string().nullable().describe('The price in force as text; null: it gets no calls.'),
  contextTokens: z.int(),
  maxOutputTokens: z.int(),
  retires: z.string().nullable().describe('The day on which the provider stops serving it.'),
  withdrawn: z.boolean(),
  why: z.string().nullable().describe('Why it gets no calls; null: it does.'),
});

const shown = shownProvider.extend({
  addresses: z
    .record(z.string(), z.unknown())
    .describe('The address of each protocol, as in a catalogue file.'),
  models: z.array(offer),
});
export type ShownProviderPage = z.output<typeof shown>;

export const showProvider = read({
  name: 'provider.show',
  summary:
    'Shows a provider with its addresses, the state of its credentials and all models that it offers or offered.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: { provider: providerField },
  output: shown,
  http: [{ method: 'GET', path: '/providers/{provider}' }],
  line: { arguments: ['provider'] },
  state: ({ name, addresses, pricesFrom, acceptNewModels }) => ({
    name,
    families: addresses,
    pricesFrom,
    acceptNewModels,
  }),
  run: async (context, { provider: id }) => {
    const [provider] = await readProviders(context, id);
    const row = await context.store.prisma.provider.findUnique({
      where: { id },
      include: {
        offers: {
          orderBy: { modelId: 'asc' },
          include: {
            model: true,
            prices: {
              where: { effectiveAt: { lte: new Date(context.nowMs) } },
              orderBy: [{ effectiveAt: 'desc' }, { createdAt: 'desc' }, { id: 'desc' }],
              take: 1,
            },
          },
        },
      },
    });
    if (provider === undefined || row === null) throw noProvider(id);
    const catalogue = await context.catalogue();
    return {
      ...provider,
      addresses: storedFamiliesShape.safeParse(row.families).data ?? {},
      models: row.offers.map(({ id: offerId, model, modelId, prices, withdrawnAt, ...facts }) => {
        const [version] = prices;
        const price = version ? parsePrice(version.price) : null;
        const inForce = catalogue.models.get(modelId)?.offers.find((one) => one.id === offerId);
        return {
          model: modelId,
          name: model.name,
          upstreamModel: facts.upstreamModel,
          families: facts.families,
          price: price === null || isUnpriced(price) ? null : priceText(price),
          contextTokens: model.contextTokens,
          maxOutputTokens: model.maxOutputTokens,
          retires: facts.retires ?? model.retires,
          withdrawn: withdrawnAt !== null,
          why: withdrawnAt !== null ? 'it is withdrawn' : inForce ? whyUnavailable(inForce) : null,
        };
      }),
    };
  },
});
