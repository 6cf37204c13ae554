import { z } from 'zod';
import { type Context, change } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { nameField, noProvider, providerField } from '#lib/control/operations/provider/credential';
import { cheapestProbe, type Probe, probe, probed } from '#lib/control/operations/provider/probe';
import { keepTest, readFingerprint } from '#lib/control/operations/provider/tested';
import { conflict, quoted } from '#lib/control/operations/refusal';

/** A mutation, although it changes nothing: it spends the operator's money, so the audit log has to say who did it. */
export const testProvider = change({
  name: 'provider.test',
  summary: 'Makes the cheapest real call to a provider and reports the result; no workspace pays for it.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: {
    provider: providerField,
    name: optional({
      ...nameField,
      help: 'The credential to call it by; if it is left out, the first that can be used.',
    }),
  },
  output: z.object({
    provider: z.string(),
    model: z.string(),
    family: z.string(),
    name: z.string().describe('The credential by which it was called.'),
    outcome: probed.nullable(),
  }),
  http: [{ method: 'POST', path: '/providers/{provider}/test' }],
  line: { arguments: ['provider'] },
  failed: ({ outcome }) => (outcome?.ok ? null : `the call failed: ${outcome?.message}`),
  run: async (context, { provider, name = null }) => {
    const { offer, family, credential } = await probeOf(context, provider, name);
    const asked = { model: offer.modelId, family: family.id, name: credential.name };
    return {
      result: { provider, ...asked, outcome: null },
      subject: `provider ${provider}`,
      before: { model: null, family: null, name: null },
      after: asked,
    };
  },
  follow: async (context, result) => {
    const { provider, name } = result;
    const print = await readFingerprint(context.pool, provider, name);
    const outcome = await probe(await probeOf(context, provider, name), context);
    await keepTest(context.pool, { provider, name, print }, outcome);
    return { ...result, outcome };
  },
});

/** @throws ControlRefused not_found; conflict if none of its offers can be called. */
async function probeOf(context: Context<'gateway'>, id: string, name: string | null): Promise<Probe> {
  const catalogue = await context.catalogue();
  const provider = catalogue.providers.get(id);
  if (provider === undefined) throw noProvider(id);
  const { credentials, withdrawn } = provider;
  if (name === null && credentials.length === 0)
    throw conflict('this provider has no credential; set one first', 'provider');
  if (name !== null && ![...credentials, ...withdrawn].some((one) => one.name === name))
    throw conflict(`this provider has no credential ${quoted(name)} that can be used; set it first`, 'name');
  const found = cheapestProbe(catalogue, id, name, context.nowMs);
  if (found) return found;
  throw conflict(
    'this provider has no priced offer that generates text, so there is no cheap call to make',
    'provider',
  );
}
