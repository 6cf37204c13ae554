import { z } from 'zod';
import { tableLines } from '#lib/control/operations/text';

const price = z.string().nullable().meta({ description: 'Dollars per million tokens.' });

/** A plan with its reasons, as "route explain" prints it. */
export const explanation = z.object({
  workspace: z.string(),
  model: z.string().meta({ description: 'The slug that the name stands for.' }),
  requestedModel: z.string(),
  family: z.string(),
  candidates: z
    .array(
      z.object({
        provider: z.string(),
        model: z.string(),
        upstreamModel: z.string(),
        input: price,
        output: price,
        openUntil: z.iso
          .datetime()
          .nullable()
          .meta({ description: 'Set aside by the breaker until then; null: in service.' }),
      }),
    )
    .meta({ description: 'In the order of trying.' }),
  skipped: z.array(
    z.object({
      provider: z.string().meta({ description: '"*": every offer of the model.' }),
      model: z.string(),
      why: z.string(),
    }),
  ),
  timeouts: z
    .record(z.string(), z.number())
    .meta({ description: 'The time limits of a call, in milliseconds.' }),
  health: z
    .enum(['live', 'unknown'])
    .meta({ description: 'unknown: no gateway process was asked, so every offer counts as healthy.' }),
  failure: z
    .object({ code: z.string(), message: z.string() })
    .nullable()
    .meta({ description: 'What a call is answered when there is no candidate.' }),
});

/** The same for people. */
export function textOf(found: z.output<typeof explanation>): string {
  const rows = found.candidates.map((one, at) => [
    at + 1,
    one.provider,
    one.model,
    one.input,
    one.output,
    one.openUntil === null ? 'in service' : `set aside until ${one.openUntil}`,
  ]);
  const titles = ['#', 'PROVIDER', 'MODEL', 'IN', 'OUT', 'STATE'];
  return [
    `in the ${found.family} family:`,
    tableLines(titles, rows, found.failure?.message ?? 'no candidate'),
    ...found.skipped.map((one) => `skipped ${one.provider} for ${one.model}: ${one.why}`),
    ...(found.health === 'live'
      ? []
      : ['no gateway process runs on this data directory: every offer counts as healthy here']),
  ].join('\n');
}
