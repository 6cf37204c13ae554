import { z } from 'zod';
import { type Context, change } from '#lib/control/operations/declare';
import { noProvider, providerField } from '#lib/control/operations/provider/credential';
import { cheapestProbe, type Probe, probe, probed } from '#lib/control/operations/provider/probe';
import { keepTest, readFingerprint } from '#lib/control/operations/provider/tested';
import { conflict } from '#lib/control/operations/refusal';

/** A mutation, although it changes nothing: it spends the operator's money, so the audit log has to say who did it. */
export const testProvider = change({
  name: 'provider.test',
  summary: 'Makes the cheapest real call to a provider and reports the result; no workspace pays for it.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: { provider: providerField },
  output: z.object({
    provider: z.string(),
    model: z.string(),
    family: z.string(),
    outcome: probed.nullable(),
  }),
  http: [{ method: 'POST', path: '/providers/{provider}/test' }],
  line: { arguments: ['provider'] },
  failed: ({ outcome }) => (outcome?.ok ? null : `the call failed: ${outcome?.message}`),
  run: async (context, { provider }) => {
    const { offer, family } = await probeOf(context, provider);
    const asked = { model: offer.modelId, family: family.id };
    return {
      result: { provider, ...asked, outcome: null },
      subject: `provider ${provider}`,
      before: { model: null, family: null },
      after: asked,
    };
  },
  follow: async (context, result) => {
    const { pool, pools } = context;
    const print = await readFingerprint(pool, result.provider);
    const outcome = await probe(await probeOf(context, result.provider), pools);
    await keepTest(pool, result.provider, print, outcome);
    return { ...result, outcome };
  },
});

/** @throws ControlRefused not_found; conflict if none of its offers can be called. */
async function probeOf(context: Context<'gateway'>, id: string): Promise<Probe> {
  const catalogue = await context.catalogue();
  const provider = catalogue.providers.get(id);
  if (provider === undefined) throw noProvider(id);
  if (provider.credential === null)
    throw conflict('this provider has no credential; set one first', 'provider');
  const found = cheapestProbe(catalogue, id, context.nowMs);
  if (found) return found;
  throw conflict(
    'this provider has no priced offer that generates text, so there is no cheap call to make',
    'provider',
  );
}
