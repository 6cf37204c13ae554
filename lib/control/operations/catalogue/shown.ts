import { z } from 'zod';
import type { ListedModel } from '#lib/control/catalogue/list';
import { pageOf } from '#lib/control/operations/field/paging';
import { tableLines } from '#lib/control/operations/text';

const perMillion = z
  .string()
  .nullable()
  .meta({ description: 'Dollars per million tokens; null: no such price.' });
const band = z.object({
  tier: z.string().meta({ description: '"default", or the name of the service tier.' }),
  aboveInputTokens: z
    .int()
    .nullable()
    .meta({ description: 'Applies to calls with more input tokens than this; null: to all calls.' }),
  rates: z.array(
    z.object({
      class: z.string().meta({ description: 'The price class: "input", "cachedInput", "image".' }),
      variant: z
        .string()
        .nullable()
        .meta({ description: 'Size, quality or resolution; null: the price of all others.' }),
      unit: z.enum(['million tokens', 'one']),
      usd: z.string().meta({ description: 'Dollars as a decimal string.' }),
    }),
  ),
});
const price = z.object({
  input: perMillion,
  output: perMillion,
  text: z.string().meta({ description: 'All prices as text.' }),
  effectiveAt: z.iso.datetime().meta({ description: 'In force since then.' }),
  source: z
    .string()
    .nullable()
    .meta({ description: 'Where the provider publishes the price; null: unknown.' }),
  bands: z.array(band).meta({ description: 'All prices.' }),
});
const offer = z.object({
  provider: z.string(),
  providerName: z.string(),
  upstreamModel: z.string().meta({ description: 'The name of the model at the provider.' }),
  families: z.array(z.string()).meta({ description: 'The protocols in which it is offered.' }),
  price: price.nullable().meta({ description: 'null: the offer is never routed to.' }),
  available: z.boolean(),
  why: z.string().nullable().meta({ description: 'Why it is not available; null: it is.' }),
});
export const shownModel: z.ZodType<ListedModel> = z.object({
  id: z.string().meta({ description: 'The slug that calls use.' }),
  name: z.string(),
  vendor: z.string().meta({ description: 'The part of the slug before the slash.' }),
  aliases: z.array(z.string()).meta({ description: 'Other names that calls may use.' }),
  contextTokens: z.int().meta({ description: 'Maximum tokens of input and output together.' }),
  maxOutputTokens: z.int().meta({ description: 'Maximum tokens of one answer.' }),
  input: z.array(z.string()).meta({ description: 'Input that it accepts: "text", "image".' }),
  output: z.array(z.string()).meta({ description: 'Output that it produces: "text", "image".' }),
  reasoning: z
    .boolean()
    .meta({ description: 'Its output may include reasoning that the client does not see.' }),
  released: z.string().nullable().meta({ description: '"2026-07-02" or "2026-07"; null: unknown.' }),
  retires: z.string().nullable().meta({
    description: 'The last day on which any provider serves it: "2027-01-31"; null: not known.',
  }),
  offers: z.array(offer).meta({ description: 'Those in service.' }),
  retired: z
    .array(
      z.object({
        provider: z.string(),
        providerName: z.string(),
        day: z.string().meta({ description: 'Not called after the end of this day, UTC: "2026-10-23".' }),
      }),
    )
    .meta({ description: 'Offers that their providers no longer serve.' }),
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
