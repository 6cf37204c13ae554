import { z } from 'zod';
import type { Policy } from '#lib/core/facts/snapshot';
import { plainSpan } from '#lib/core/span';

/** An id of the catalogue; what no id can be, and no database can store, is refused here. */
const id = z
  .string()
  .min(1, 'is empty')
  .max(200, 'is too long for an id')
  .refine(
    (text) => text.isWellFormed() && !/\p{Cc}/u.test(text),
    'contains a character that ids cannot have',
  );
const providers = z.array(id).max(100);
/** A time limit: long enough that an answer can come at all, short enough to be one. */
const ms = (most: number) =>
  z
    .int('is not a whole number of milliseconds')
    .min(10, 'must be at least 10 ms: leave it out for the default')
    .max(most, `must be at most ${plainSpan(most)} (${most} ms)`)
    .meta({ description: 'Unit: milliseconds.' });
const MINUTE_MS = 60_000;
const usdPerMillion = z
  .string({ error: 'write dollars per million tokens as a decimal string, like "5"' })
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'is not a price: write dollars per million tokens, like "5" or "0.25"')
  .meta({ description: 'Dollars per million tokens, as a decimal string.' });

const usd = z
  .string({ error: 'write dollars as a decimal string, like "50"' })
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'is not an amount: write dollars, like "50" or "0.25"');

/** The policy file (contract: operations/policy-file): every key optional, unknown ones refused. */
export const policyShape = z
  .strictObject({
    sort: z
      .enum(['order', 'price', 'latency', 'throughput'])
      .optional()
      .meta({ description: 'How the offers of providers that `order` does not name are sorted.' }),
    order: providers.optional().meta({ description: 'Providers that are tried first.' }),
    only: providers.optional().meta({ description: 'No other providers are tried.' }),
    ignore: providers.optional().meta({ description: 'Providers that are never tried.' }),
    weights: z
      .record(
        id,
        z
          .number('write a weight as a number, like 3')
          .positive('must be above 0: use "ignore" to leave a provider out')
          .max(1_000_000, 'must be at most 1000000'),
      )
      .optional()
      .meta({ description: 'Shares by provider: offers are drawn at random instead of sorted.' }),
    fallbackModels: z
      .array(id)
      .max(20)
      .optional()
      .meta({ description: 'Models that are tried when all offers of the first model have failed.' }),
    translate: z
      .enum(['never', 'fallback', 'allow'], {
        error: 'must be "never", "fallback" or "allow"',
      })
      .optional()
      .meta({ description: 'Whether offers that speak only another protocol are tried, by translation.' }),
    maxPrice: z
      .strictObject({ input: usdPerMillion.optional(), output: usdPerMillion.optional() })
      .optional()
      .meta({ description: 'More expensive offers are not tried.' }),
    maxBatchHold: usd
      .optional()
      .meta({ description: 'A batch that would hold more is refused. Dollars, as a decimal string.' }),
    maxAttempts: z
      .int('must be 1, 2, 3 or 4')
      .min(1, 'must be at least 1')
      .max(4, 'must be at most 4')
      .optional()
      .meta({ description: 'How many attempts one call may make.' }),
    aliases: z
      .record(
        z.string().regex(/^[\x21-\x7e]{1,200}$/, 'is not a name: use printable characters without spaces'),
        z.union(
          [id, z.array(id).min(1, 'names no model: list at least one').max(20, 'lists more than 20 models')],
          {
            error: 'is neither a model id nor a list of 1 to 20 of them',
          },
        ),
      )
      .refine((map) => Object.keys(map).length <= 200, 'has more than 200 names')
      .optional()
      .meta({ description: 'Names that the workspace gives to a model, or to a chain of models.' }),
    timeouts: z
      .strictObject({
        connectMs: ms(MINUTE_MS).optional(),
        firstByteMs: ms(60 * MINUTE_MS).optional(),
        firstByteWholeMs: ms(60 * MINUTE_MS).optional(),
        firstWordMs: ms(24 * 60 * MINUTE_MS).optional(),
        idleMs: ms(60 * MINUTE_MS).optional(),
        totalMs: ms(24 * 60 * MINUTE_MS).optional(),
        holdMs: ms(MINUTE_MS).optional(),
      })
      .optional()
      .meta({ description: 'Time limits of a call.' }),
  })
  .superRefine((policy, context) => {
    for (const id of orderedAndDrawn(policy)) {
      context.addIssue({
        code: 'custom',
        path: ['weights', id],
        message: `provider "${id}" is in both order and weights: keep it in one of them`,
      });
    }
  });

/**
 * A stored or given policy, checked.
 * @throws ZodError that names the key and the remedy.
 */
export function parsePolicy(json: unknown): Policy {
  return policyShape.parse(json);
}

/** A stored policy with its key `translate`, which has a column of its own (docs/decisions/translation.md). */
export function withTranslate(policy: unknown, translate: string | null): unknown {
  const isObject = typeof policy === 'object' && policy !== null && !Array.isArray(policy);
  return translate === null || !isObject ? policy : { translate, ...policy };
}

/** Providers that a policy both orders and draws by weight: such a policy is refused (contract: routing/weights). */
export function orderedAndDrawn(policy: Policy): readonly string[] {
  const { order, weights } = policy;
  return weights && order ? order.filter((id) => Object.hasOwn(weights, id)) : [];
}
