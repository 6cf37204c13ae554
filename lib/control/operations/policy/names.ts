import { z } from 'zod';
import { read } from '#lib/control/operations/declare';

/** Suggestions for the editor. */
export const listPolicyNames = read({
  name: 'policy.names',
  summary: 'Lists the models and providers that a policy may name.',
  reach: 'workspace',
  permission: 'policies:read',
  output: z.object({ models: z.array(z.string()), providers: z.array(z.string()) }),
  run: async (context) => {
    const { models, providers } = await context.catalogue();
    return { models: [...models.keys()].sort(), providers: [...providers.keys()].sort() };
  },
});
