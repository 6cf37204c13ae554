import { z } from 'zod';
import { type Context, change } from '#lib/control/operations/declare';
import { noProvider, providerField } from '#lib/control/operations/provider/credential';
import { tableLines } from '#lib/control/operations/text';
import { fetchList } from '#lib/control/providers/fetch-list';
import { KnownModels, slugFor } from '#lib/control/providers/known';
import { listPlaceOf } from '#lib/control/providers/list-places';
import { familiesFor, type ListedEntry } from '#lib/control/providers/model-list';
import type { CredentialFacts } from '#lib/core/facts/credential';
import type { Catalogue, ModelFacts, ProviderFacts } from '#lib/core/facts/snapshot';
import { storedAbilitiesShape, storedFamiliesShape } from '#lib/core/schemas/catalogue';
import { filePriceShape } from '#lib/core/schemas/price';
import type { OpenAccess } from '#lib/gateway/clouds/access';

const tokens = z.int().nullable();
const found = z.object({
  upstreamModel: z.string().describe('The name of the model at the provider.'),
  slug: z.string().describe('Under which it is offered, or could be.'),
  offered: z.boolean().describe('Whether the provider offers it already.'),
  known: z.boolean().describe('Whether the catalogue has the model of this slug.'),
  name: z.string(),
  kind: z.enum(['text', 'embeddings', 'rerank', 'other']),
  families: z.array(z.string()).describe('The protocols in which it would be offered.'),
  contextTokens: tokens.describe('Maximum tokens of input and output together; null: unknown.'),
  maxOutputTokens: tokens.describe('Maximum tokens of one answer; null: unknown.'),
  input: z.array(z.string()).nullable().describe('Input that it accepts; null: unknown.'),
  abilities: storedAbilitiesShape.describe(
    'What it can do here, and cannot, as the catalogue or the list says; what is left out is not known.',
  ),
  price: filePriceShape
    .nullable()
    .describe('A price of this model in the catalogue, as in a file; null: give one.'),
  priceOf: z.string().nullable().describe('The provider that has this price.'),
});
export type FoundModel = z.output<typeof found>;

/** A mutation, although it changes nothing: it sends the operator's credential, so the audit log says who did it. */
export const discoverModels = change({
  name: 'provider.discover',
  summary:
    "Reads the provider's own list of models, with what the catalogue knows about them; changes nothing.",
  reach: 'gateway',
  permission: 'gateway:write',
  fields: { provider: providerField },
  output: z.object({
    provider: z.string(),
    url: z.string().describe('Where the list is.'),
    data: z.array(found),
    more: z.boolean().describe('Whether the list goes on after the last model that was read.'),
    note: z
      .string()
      .nullable()
      .describe(
        'At a cloud, what its names are, and which of its lists could not be read; null: nothing to say.',
      ),
    failure: z.string().nullable().describe('Why the list could not be read, and what to do; null: it was.'),
  }),
  http: [{ method: 'POST', path: '/providers/{provider}/discover' }],
  line: { arguments: ['provider'] },
  text: ({ data, note }) => {
    const lines = tableLines(
      ['MODEL', 'SLUG', 'STATE', 'CONTEXT', 'PRICE OF'],
      data.map(({ upstreamModel, slug, offered, known, contextTokens, priceOf }) => [
        upstreamModel,
        slug,
        offered ? 'offered' : known ? 'in the catalogue' : 'new',
        contextTokens === null ? 'unknown' : String(contextTokens),
        priceOf ?? 'none',
      ]),
      'the provider lists no models',
    );
    return note === null ? lines : `${lines}\n\n${note}`;
  },
  failed: ({ failure }) => failure,
  run: async ({ store }, { provider }) => {
    const row = await store.prisma.provider.findUnique({
      where: { id: provider },
      select: { families: true },
    });
    if (row === null) throw noProvider(provider);
    return {
      result: { provider, url: '', data: [], more: false, note: null, failure: null },
      subject: `provider ${provider}`,
      before: { asked: null },
      after: { asked: row.families },
    };
  },
  follow: async (context, { provider: id }) => {
    const catalogue = await catalogueWith(context, id);
    const provider = catalogue.providers.get(id);
    if (provider === undefined) throw noProvider(id);
    const place = listPlaceOf(provider);
    const [credential] = provider.credentials;
    const asked = { provider: id, url: place?.lists[0].url.href ?? '' };
    const failed = (failure: string) => ({ ...asked, data: [], more: false, note: null, failure });
    if (place === null)
      return failed('none of its addresses can be used; set its address, or the variable that contains it');
    if (credential === undefined) return failed('this provider has no credential; set one first');
    const opened = (url: URL) => open(context, provider, credential, url);
    const list = await fetchList(place, provider, opened, context.pools);
    if (!list.ok) return failed(list.failure);
    const { entries, more, note } = list;
    return { ...asked, data: foundIn(catalogue, provider, entries), more, note, failure: null };
  },
});

/** A credential, ready for an address; or why it is not. */
async function open(
  { access }: Context<'gateway'>,
  provider: ProviderFacts,
  credential: CredentialFacts,
  url: URL,
): Promise<OpenAccess | string> {
  if (access === null)
    return credential.cloud === undefined
      ? { credential, sign: null, refused: () => false }
      : 'this process cannot open credentials of clouds; use the operator area';
  try {
    return await access.open(provider, credential, url);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const longestWaitMs = 3_000;

/** The catalogue in memory may not have read a provider that was added just now. */
async function catalogueWith(context: Context<'gateway'>, id: string): Promise<Catalogue> {
  const { rows } = await context.pool.query<{ families: unknown }>(
    'SELECT families FROM provider WHERE id = $1',
    [id],
  );
  const stored = storedFamiliesShape.safeParse(rows[0]?.families).data ?? {};
  const untilMs = performance.now() + longestWaitMs;
  for (;;) {
    const catalogue = await context.catalogue();
    const read = catalogue.providers.get(id);
    const current = Object.entries(stored).every(([family, address]) => {
      if (typeof address !== 'string') return true;
      const known = [...(read?.families ?? [])].find(([name]) => name === family)?.[1];
      return known?.state === 'ready' && known.url.href === new URL(address).href;
    });
    if ((read && current) || performance.now() > untilMs) return catalogue;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Models with what the catalogue knows of them; the likeliest kind first, then in the order of the list. Pure. */
function foundIn(
  catalogue: Catalogue,
  provider: ProviderFacts,
  entries: readonly ListedEntry[],
): FoundModel[] {
  const known = new KnownModels(catalogue, provider.id);
  const names = new Set([...catalogue.models.values()].flatMap(({ id, aliases }) => [id, ...aliases]));
  const spoken = [...provider.families.keys()];
  return entries.map((entry) => {
    const { offered, model, price } = known.of(entry);
    const slug = offered ?? model?.id ?? slugFor(provider.id, entry.upstreamModel, (one) => names.has(one));
    names.add(slug);
    const stored = catalogue.models.get(slug);
    return {
      upstreamModel: entry.upstreamModel,
      slug,
      offered: offered !== null,
      known: stored !== undefined,
      name: stored?.name ?? entry.name ?? entry.upstreamModel,
      kind: entry.kind,
      families: familiesFor(entry, spoken, provider.variants),
      contextTokens: stored?.contextTokens ?? entry.contextTokens,
      maxOutputTokens: stored?.maxOutputTokens ?? entry.maxOutputTokens,
      input: stored ? [...stored.input] : entry.input && [...entry.input],
      abilities: { ...entry.abilities, ...ownAbilities(stored, provider) },
      price: price?.price ?? null,
      priceOf: price?.provider ?? null,
    };
  });
}

/** What the catalogue says of the offer that the provider has already. */
function ownAbilities(stored: ModelFacts | undefined, { id }: ProviderFacts) {
  return stored?.offers.find(({ provider }) => provider.id === id)?.abilities;
}
