import { z } from 'zod';
import { type Context, change } from '#lib/control/declare';
import { noProvider, providerField } from '#lib/control/provider/credential';
import { cheapestProbe, type Probe, probe } from '#lib/control/provider/probe';
import { conflict } from '#lib/control/refusal';

const dollars = z
  .string()
  .nullable()
  .meta({ description: 'Dollars, which the operator pays; null: not told.' });
const tokens = z.number().nullable().meta({ description: 'Tokens by the answer; null: it names none.' });
const outcome = z.object({
  ok: z.boolean(),
  status: z.int().nullable().meta({ description: 'HTTP status; null: there was no answer.' }),
  durationMs: z.int(),
  message: z.string().nullable().meta({ description: 'What went wrong; null: nothing did.' }),
  input: tokens,
  output: tokens,
  cost: dollars,
  upstreamRequestId: z.string().nullable(),
});

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
    outcome: outcome.nullable(),
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
    outcome: await probe(await probeOf(context, result.provider)),
  }),
});

/** @throws ControlRefused not_found; conflict when nothing of it can be called. */
async function probeOf(context: Context<'gateway'>, id: string): Promise<Probe> {
  const catalogue = await context.catalogue();
  const provider = catalogue.providers.get(id);
  if (provider === undefined) throw noProvider(id);
  if (provider.credential === null) throw conflict('it has no credential: give it one first', 'provider');
  const found = cheapestProbe(catalogue, id);
  if (found) return found;
  throw conflict(
    'it has no offer with a price that generates text, so nothing cheap can be called',
    'provider',
  );
}
