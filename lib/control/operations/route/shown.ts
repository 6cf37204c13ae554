import { z } from 'zod';
import { tableLines } from '#lib/control/operations/text';

const price = z.string().nullable().describe('Dollars per million tokens.');

/** A plan with its reasons, as "route explain" prints it. */
export const explanation = z.object({
  workspace: z.string(),
  model: z.string().describe('The slug that the name resolves to.'),
  requestedModel: z.string(),
  family: z.string(),
  candidates: z
    .array(
      z.object({
        provider: z.string(),
        model: z.string(),
        upstreamModel: z.string(),
        translatedTo: z
          .string()
          .nullable()
          .describe('The protocol in which the provider is called, if it is not the client’s own.'),
        input: price,
        output: price,
        openUntil: z.iso
          .datetime()
          .nullable()
          .describe('Out of service until then, because of the breaker; null: in service.'),
      }),
    )
    .describe('In the order in which they are tried.'),
  skipped: z.array(
    z.object({
      provider: z.string().describe('"*" means every offer of the model.'),
      model: z.string(),
      why: z.string(),
    }),
  ),
  timeouts: z.record(z.string(), z.number()).describe('The time limits of a call, in milliseconds.'),
  health: z
    .enum(['live', 'unknown'])
    .describe('unknown: no gateway process answered, so every offer counts as healthy.'),
  failure: z
    .object({ code: z.string(), message: z.string() })
    .nullable()
    .describe('The error of a call, if there are no candidates.'),
});

/** The same as text. */
export function textOf(found: z.output<typeof explanation>): string {
  const rows = found.candidates.map((one, at) => [
    at + 1,
    one.provider,
    one.model,
    one.translatedTo === null ? found.family : `${one.translatedTo} (translated)`,
    one.input,
    one.output,
    one.openUntil === null ? 'in service' : `set aside until ${one.openUntil}`,
  ]);
  const titles = ['#', 'PROVIDER', 'MODEL', 'PROTOCOL', 'IN', 'OUT', 'STATE'];
  return [
    `in the ${found.family} family:`,
    tableLines(titles, rows, found.failure?.message ?? 'no candidate'),
    ...found.skipped.map((one) => `skipped ${one.provider} for ${one.model}: ${one.why}`),
    ...(found.health === 'live'
      ? []
      : ['no gateway process is running on this data directory, so every offer counts as healthy']),
  ].join('\n');
}
