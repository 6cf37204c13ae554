import { z } from 'zod';
import type { ListedModel } from '#lib/control/catalogue/list';
import { rateUnits } from '#lib/control/catalogue/price-table';
import { pageOf } from '#lib/control/operations/field/paging';
import { tableLines } from '#lib/control/operations/text';
import { storedAbilitiesShape } from '#lib/core/schemas/catalogue';

const perMillion = z.string().nullable().describe('Dollars per million tokens; null: no such price.');
const band = z.object({
  tier: z.string().describe('"default", or the name of the service tier.'),
  aboveInputTokens: z
    .int()
    .nullable()
    .describe('Applies to calls with more input tokens than this; null: to all calls.'),
  rates: z.array(
    z.object({
      class: z.string().describe('The price class: "input", "cachedInput", "image".'),
      variant: z.string().nullable().describe('Size, quality or resolution; null: the price of all others.'),
      unit: z.enum(rateUnits),
      usd: z.string().describe('Dollars as a decimal string.'),
    }),
  ),
});
const price = z.object({
  input: perMillion,
  output: perMillion,
  text: z.string().describe('All prices as text.'),
  effectiveAt: z.iso.datetime().describe('In force since then.'),
  source: z.string().nullable().describe('Where the provider publishes the price; null: unknown.'),
  bands: z.array(band).describe('All prices.'),
});
const offer = z.object({
  provider: z.string(),
  providerName: z.string(),
  upstreamModel: z.string().describe('The name of the model at the provider.'),
  families: z.array(z.string()).describe('The protocols in which it is offered.'),
  abilities: storedAbilitiesShape.describe(
    'What it can do, and cannot: {"tools": true, "images": false}; what is left out is not known.',
  ),
  unserved: z.array(z.string()).describe('Operations of its protocols that it does not serve.'),
  price: price.nullable().describe('null: the offer is never routed to.'),
  available: z.boolean(),
  why: z.string().nullable().describe('Why it is not available; null: it is.'),
});
export const shownModel: z.ZodType<ListedModel> = z.object({
  id: z.string().describe('The slug that calls use.'),
  name: z.string(),
  vendor: z.string().describe('The part of the slug before the slash.'),
  aliases: z.array(z.string()).describe('Other names that calls may use.'),
  contextTokens: z.int().describe('Maximum tokens of input and output together.'),
  maxOutputTokens: z.int().describe('Maximum tokens of one answer.'),
  input: z.array(z.string()).describe('Input that it accepts: "text", "image".'),
  output: z.array(z.string()).describe('Output that it produces: "text", "image".'),
  reasoning: z.boolean().describe('Its output may include reasoning that the client does not see.'),
  released: z.string().nullable().describe('"2026-07-02" or "2026-07"; null: unknown.'),
  retires: z
    .string()
    .nullable()
    .describe('The last day on which any provider serves it: "2027-01-31"; null: not known.'),
  offers: z.array(offer).describe('Those in service.'),
  retired: z
    .array(
      z.object({
        provider: z.string(),
        providerName: z.string(),
        day: z.string().describe('Not called after the end of this day, UTC: "2026-10-23".'),
      }),
    )
    .describe('Offers that their providers no longer serve.'),
});

export const modelPage = pageOf(shownModel);

/** The offers of a page of models, one a line. */
export function textOf({ data, next }: z.output<typeof modelPage>): string {
  const rows = data.flatMap((model) =>
    model.offers.map((one) => [
      model.id,
      one.provider,
      one.families.join(' '),
      one.price?.text ?? 'unpriced',
      one.available ? 'available' : `unavailable: ${one.why}`,
    ]),
  );
  const titles = ['MODEL', 'PROVIDER', 'FAMILIES', 'USD PER MILLION', 'STATE'];
  const none = 'the catalogue is empty: apply one with "gateway catalogue apply catalogue"';
  return tableLines(titles, rows, none) + (next === null ? '' : `\nmore: --after ${next}`);
}
