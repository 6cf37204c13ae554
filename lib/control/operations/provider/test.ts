import { z } from 'zod';
import { type Context, change } from '#lib/control/operations/declare';
import { noProvider, providerField } from '#lib/control/operations/provider/credential';
import { cheapestProbe, type Probe, probe, probed } from '#lib/control/operations/provider/probe';
import { conflict } from '#lib/control/operations/refusal';

/** A mutation, though it changes nothing here: it spends the operator's money, so that the trail should name who. */
export const testProvider = change({
  name: 'provider.test',
  summary: 'Makes the cheapest real call to a provider and tells its outcome; no workspace pays for it.',
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
      workspaceId: null,
      before: { model: null, family: null },
      after: asked,
      changes: [],
    };
  },
  follow: async (context, result) => ({
    ...result,
    outcome: await probe(await probeOf(context, result.provider), context.pools),
  }),
});

/** @throws ControlRefused not_found; conflict when nothing of it can be called. */
async function probeOf(context: Context<'gateway'>, id: string): Promise<Probe> {
  const catalogue = await context.catalogue();
  const provider = catalogue.providers.get(id);
  if (provider === undefined) throw noProvider(id);
  if (provider.credential === null) throw conflict('it has no credential: give it one first', 'provider');
  const found = cheapestProbe(catalogue, id, context.nowMs);
  if (found) return found;
  throw conflict(
    'it has no offer with a price that generates text, so nothing cheap can be called',
    'provider',
  );
}
