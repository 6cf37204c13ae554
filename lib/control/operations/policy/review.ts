import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { document } from '#lib/control/operations/field/kinds';
import { faultsOf, readPolicies } from '#lib/control/operations/policy/check';
import { modelField, placeOf, storedPolicy } from '#lib/control/operations/policy/places';
import { policyShape } from '#lib/core/schemas/policy';
import { changesOf } from '#lib/gateway/routing/pure/policy/difference';

const fault = z.object({
  at: z.array(z.string()).describe('Path in the policy: ["timeouts", "connectMs"].'),
  message: z.string(),
});

/** For the editor: all errors at once, while a refusal names only the first. */
export const reviewPolicy = read({
  name: 'policy.review',
  summary: 'Lists all errors in a draft, and what publishing it would change, as text.',
  reach: 'workspace',
  permission: 'policies:read',
  fields: {
    model: modelField,
    policy: document(
      { label: 'Draft', help: 'A policy, finished or not.', example: { sort: 'price' } },
      storedPolicy,
    ),
  },
  output: z.object({ faults: z.array(fault), changes: z.array(z.string()) }),
  run: async (context, { model, policy }) => {
    const place = placeOf(model);
    const stored = await readPolicies(context);
    const before = storedPolicy.safeParse(stored.get(place)?.policy ?? {});
    const changes = changesOf(before.success ? before.data : {}, policy);
    const read = policyShape.safeParse(policy);
    if (read.success) return { faults: await faultsOf(context.store, stored, place, read.data), changes };
    const faults = read.error.issues.flatMap((issue) => {
      const at = issue.path.map(String);
      if (issue.code !== 'unrecognized_keys') return [{ at, message: issue.message }];
      return issue.keys.map((key) => ({ at: [...at, key], message: 'is an unknown key; remove it' }));
    });
    return { faults, changes };
  },
});
