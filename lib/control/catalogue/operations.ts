import { z } from 'zod';
import { type ListedModel, listModels } from '#lib/catalogue/list';
import { read } from '#lib/control/declare';
import { limitOf, pageOf, paging } from '#lib/control/field/paging';

const price = z.object({ input: z.string().nullable(), output: z.string().nullable(), text: z.string() });
const offer = z.object({
  provider: z.string(),
  upstreamModel: z.string(),
  families: z.array(z.string()),
  price: price.nullable().meta({ description: 'Dollars per million tokens; null: it is never routed to.' }),
  available: z.boolean(),
  why: z.string().nullable().meta({ description: 'Why it is not available; null when it is.' }),
});
const shownModel: z.ZodType<ListedModel> = z.object({
  id: z.string(),
  name: z.string(),
  aliases: z.array(z.string()),
  contextTokens: z.int(),
  maxOutputTokens: z.int(),
  input: z.array(z.string()).meta({ description: 'What it reads: "text", "image".' }),
  output: z.array(z.string()),
  offers: z.array(offer),
});

const listCatalogue = read({
  name: 'model.list',
  summary: 'The models of the catalogue with their offers and prices, by id.',
  reach: 'self',
  permission: null,
  fields: paging,
  output: pageOf(shownModel),
  http: [{ method: 'GET', path: '/models' }],
  line: null,
  run: async (context, input) => {
    const limit = limitOf(input);
    const { after = '' } = input;
    const models = listModels(await context.catalogue()).filter(({ id }) => id > after);
    const data = models.slice(0, limit);
    return { data, next: models.length > limit ? (data.at(-1)?.id ?? null) : null };
  },
});

export const catalogueOperations = [listCatalogue];
