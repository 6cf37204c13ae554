import { z } from 'zod';
import type { Policy } from '#lib/snapshot/snapshot';

const providers = z.array(z.string().min(1)).max(100);
const ms = z
  .int('is no whole number of milliseconds')
  .positive('must be above 0: leave it out for the default')
  .max(86_400_000);
const usdPerMillion = z
  .string({ error: 'write dollars per million tokens as a decimal string, like "5"' })
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'is no price: write dollars per million tokens, like "5" or "0.25"');

/** The policy file (operations.md "Policy file", decisions §12): every key optional, unknown ones refused. */
export const policyShape = z
  .strictObject({
    sort: z.enum(['order', 'price', 'latency', 'throughput']).optional(),
    order: providers.optional(),
    only: providers.optional(),
    ignore: providers.optional(),
    weights: z
      .record(z.string().min(1), z.number().positive('must be above 0: use "ignore" to leave a provider out'))
      .optional(),
    fallbackModels: z.array(z.string().min(1)).max(20).optional(),
    maxPrice: z
      .strictObject({ input: usdPerMillion.optional(), output: usdPerMillion.optional() })
      .optional(),
    maxAttempts: z.int().min(1).max(4, 'is at most 4').optional(),
    timeouts: z
      .strictObject({
        connectMs: ms.optional(),
        firstByteMs: ms.optional(),
        firstByteWholeMs: ms.optional(),
        idleMs: ms.optional(),
        totalMs: ms.optional(),
      })
      .optional(),
  })
  .superRefine((policy, context) => {
    const both = (policy.order ?? []).filter((id) => policy.weights && id in policy.weights);
    for (const id of both) {
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
