import { z } from 'zod';
import { applyWithin } from '#lib/control/catalogue/apply';
import type { StoredCatalogue, StoredOffer } from '#lib/control/catalogue/difference';
import { offerKey } from '#lib/control/catalogue/difference';
import { filePriceOf } from '#lib/control/catalogue/file-price';
import { joinCatalogues } from '#lib/control/catalogue/files';
import { listPrice } from '#lib/control/catalogue/price-table';
import { readStored } from '#lib/control/catalogue/stored';
import { change } from '#lib/control/operations/declare';
import { document } from '#lib/control/operations/field/kinds';
import { providerTransaction } from '#lib/control/operations/provider/add';
import { noProvider, providerField } from '#lib/control/operations/provider/credential';
import { badInput, conflict, quoted } from '#lib/control/operations/refusal';
import { slugFor } from '#lib/control/providers/known';
import { familiesFor, readModelList } from '#lib/control/providers/model-list';
import {
  type CatalogueFile,
  catalogueShape,
  type FileModel,
  inputKinds,
  storedAbilitiesShape,
  type Variants,
} from '#lib/core/schemas/catalogue';
import { FileRefused } from '#lib/core/schemas/document';
import { filePriceShape } from '#lib/core/schemas/price';
import { newRowId } from '#lib/platform/data/row-id';

/** The most models in one request. */
const mostModels = 500;
/** Used for a new model if neither the caller nor the provider says; a typical length today. */
const usual = { contextTokens: 131_072, maxOutputTokens: 8_192 };

const wantedModel = z.strictObject({
  upstreamModel: z.string().min(1).max(300).describe('The name of the model at the provider.'),
  slug: z.string().min(1).max(200).optional().describe('The slug that calls use; PROVIDER/NAME if left out.'),
  name: z.string().trim().min(1).max(200).optional().describe('Shown to people.'),
  families: z.array(z.string()).min(1).optional().describe('The protocols in which it is offered.'),
  contextTokens: z.int().min(0).optional().describe('Maximum tokens of input and output together.'),
  maxOutputTokens: z.int().min(0).optional().describe('Maximum tokens of one answer.'),
  input: z.array(z.enum(inputKinds)).min(1).optional().describe('Input that it accepts.'),
  reasoning: z
    .boolean()
    .optional()
    .describe('Its output may include reasoning that the client does not see.'),
  abilities: storedAbilitiesShape
    .optional()
    .describe('What it can do here, and cannot; what is left out is not known, and calls may try.'),
  price: filePriceShape.optional().describe('As in a catalogue file: dollars as decimal strings.'),
  free: z.literal(true).optional().describe('Instead of a price: calls cost nothing.'),
});
type WantedModel = z.output<typeof wantedModel>;

export const offerModels = change({
  name: 'provider.offer',
  summary:
    'Offers models of a provider under slugs, with prices, all of them or none; changes those it offers already.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction: providerTransaction,
  fields: {
    provider: providerField,
    models: document(
      {
        label: 'Models',
        help: 'A list of models; "gateway provider discover" shows their names.',
        placeholder: 'FILE',
        example: [{ upstreamModel: 'llama3.2', slug: 'ollama/llama3.2', free: true }],
      },
      z
        .array(wantedModel, 'must be a list of models')
        .min(1, 'name at least one model')
        .max(mostModels, `name at most ${mostModels} models; send the others in another request`),
    ),
  },
  output: z.object({
    provider: z.string(),
    models: z.array(z.string()).describe('The slugs, in the order of the request.'),
    changes: z.array(z.string()).describe('One line for each model or offer that changed.'),
  }),
  http: [{ method: 'POST', path: '/providers/{provider}/offers' }],
  line: { arguments: ['provider', 'models'] },
  text: ({ changes }) => (changes.length > 0 ? changes.join('\n') : 'no change'),
  run: async ({ store, sealingKey }, { provider: id, models }) => {
    const stored = await readStored(store.prisma, null);
    const provider = stored.providers.get(id);
    if (provider === undefined) throw noProvider(id);
    const spoken = Object.keys(provider.families);
    const { variants } = provider;
    const names = namesOf(stored);
    const wanted = models.map((one, at) => fileModelOf(one, at, { id, spoken, variants, stored, names }));
    const slugs = wanted.map(({ id: slug }) => slug);
    const twice = slugs.findIndex((slug, at) => slugs.indexOf(slug) !== at);
    if (twice >= 0)
      throw badInput(
        `models.${twice}.slug`,
        `${quoted(slugs[twice] ?? '')} is in the list twice; choose another slug`,
      );
    const options = { sealingKey, newId: newRowId, order: 'stored' as const };
    const { changes, trail } = await applyWithin(store.prisma, setOf(wanted), options).catch(refuse);
    return {
      result: { provider: id, models: slugs, changes: [...changes] },
      subject: `provider ${id}`,
      ...trail,
      changes: changes.length > 0 ? [{ kind: 'catalogue', subject: '' }] : [],
    };
  },
});

/** By name, aliases included, the model that has it. */
function namesOf({ models }: StoredCatalogue): Map<string, string> {
  return new Map(
    [...models.values()].flatMap(({ id, aliases }) => [id, ...aliases].map((name) => [name, id])),
  );
}

interface Place {
  readonly id: string;
  readonly spoken: readonly string[];
  readonly variants: Variants;
  readonly stored: StoredCatalogue;
  readonly names: ReadonlyMap<string, string>;
}

/** The entry of a catalogue file: what is not given stays as it is, or is a usual value. @throws ControlRefused. */
function fileModelOf(
  one: WantedModel,
  at: number,
  { id, spoken, variants, stored, names }: Place,
): FileModel {
  const own = [...stored.offers.values()].find(
    ({ providerId, facts, withdrawn }) =>
      providerId === id && facts.upstreamModel === one.upstreamModel && !withdrawn,
  );
  const slug =
    one.slug ?? own?.modelId ?? slugFor(id, one.upstreamModel, (name) => (names.get(name) ?? name) !== name);
  const alias = names.get(slug);
  if (alias !== undefined && alias !== slug)
    throw conflict(
      `${quoted(slug)} is another name of ${alias}; choose another slug, or that model's`,
      `models.${at}.slug`,
    );
  const model = stored.models.get(slug);
  const offer = stored.offers.get(offerKey(slug, id));
  // Only the name says what kind of model it is.
  const kind = readModelList([{ id: one.upstreamModel }])?.entries[0]?.kind ?? 'text';
  const families =
    one.families ??
    offer?.facts.families ??
    familiesFor({ kind, upstreamModel: one.upstreamModel }, spoken, variants);
  if (families.length === 0)
    throw badInput(
      `models.${at}.families`,
      `say in which protocols ${quoted(slug)} is offered; the provider has ${spoken.join(', ')}`,
    );
  const { name, contextTokens, maxOutputTokens, input, reasoning } = one;
  const given = Object.fromEntries(
    Object.entries({ name, contextTokens, maxOutputTokens, input, reasoning }).filter(
      ([, fact]) => fact !== undefined,
    ),
  );
  if (model) refuseSharedFacts(model, given, { at, id, stored });
  const facts = model ?? {
    id: slug,
    name: one.upstreamModel.slice(0, 200),
    aliases: [],
    ...usual,
    ...(contextTokens !== undefined && { maxOutputTokens: Math.min(usual.maxOutputTokens, contextTokens) }),
    input: ['text'],
    output: outputOf(families),
    reasoning: false,
    abilities: {},
  };
  const { upstreamModel } = one;
  const price = priceOf(one, at, offer);
  const kept = offer ? keptFacts(offer) : { denyBetas: [] };
  return checked(
    {
      ...facts,
      ...given,
      offers: [
        {
          ...kept,
          provider: id,
          upstreamModel,
          families,
          price,
          ...(one.abilities && { abilities: one.abilities }),
        },
      ],
    },
    at,
  );
}

/** What a new model makes, by the protocols in which it is offered. */
function outputOf(families: readonly string[]): FileModel['output'] {
  const every = (...names: string[]) => families.every((family) => names.includes(family));
  if (every('embeddings', 'embed-content')) return ['embedding'];
  if (every('rerank', 'moderations')) return ['scores'];
  if (every('images')) return ['image'];
  return every('videos') ? ['video'] : ['text'];
}

/** Facts of a model are those of all its offers: one provider does not change them for the others. */
function refuseSharedFacts(
  model: Omit<FileModel, 'offers'>,
  given: Readonly<Record<string, unknown>>,
  { at, id, stored }: { at: number; id: string; stored: StoredCatalogue },
): void {
  const other = [...stored.offers.values()].find(
    ({ modelId, providerId, withdrawn }) => modelId === model.id && providerId !== id && !withdrawn,
  );
  if (other === undefined) return;
  for (const [fact, value] of Object.entries(given)) {
    if (JSON.stringify(Reflect.get(model, fact)) === JSON.stringify(value)) continue;
    throw conflict(
      `${quoted(model.id)} is also offered by ${other.providerId}; leave this out, choose another slug, or change the model in a catalogue file`,
      `models.${at}.${fact}`,
    );
  }
}

/** What only files set, of an offer that exists. */
function keptFacts({ facts }: StoredOffer): object {
  const { outputBudgetField, streamUsage, streamEnd, denyBetas, retires, abilities, operations } = facts;
  const set = Object.entries({ outputBudgetField, streamUsage, streamEnd, retires });
  return {
    denyBetas,
    abilities,
    operations,
    ...Object.fromEntries(set.filter(([, value]) => value !== null)),
  };
}

/** @throws ControlRefused if there is none, or two. */
function priceOf(
  { price, free, slug, upstreamModel }: WantedModel,
  at: number,
  offer: StoredOffer | undefined,
) {
  if (price !== undefined && free) throw badInput(`models.${at}.free`, 'give a price, or free, not both');
  if (free) return { input: '0', output: '0' };
  if (price !== undefined && Object.keys(price).length > 0) return price;
  if (price === undefined && offer?.price) return filePriceOf(listPrice(offer.price));
  throw badInput(
    `models.${at}.price`,
    `${quoted(slug ?? upstreamModel)} needs a price in dollars per million tokens of input and output, or to be free of charge ("free")`,
  );
}

/** By the schema of files, so that an export can be applied. @throws ControlRefused. */
function checked(model: unknown, at: number): FileModel {
  const read = catalogueShape.safeParse({ models: [model] });
  if (read.success && read.data.models[0]) return read.data.models[0];
  const issue = read.error?.issues[0];
  const path = (issue?.path.slice(2) ?? []).map(String).filter((part) => part !== 'offers' && part !== '0');
  const [first, ...rest] = path;
  const field = [`models.${at}`, first === 'id' ? 'slug' : first, ...rest].filter(Boolean).join('.');
  throw badInput(field, issue?.message ?? 'cannot be used');
}

function setOf(models: readonly FileModel[]) {
  const value: CatalogueFile = { providers: [], models: [...models] };
  return joinCatalogues([{ file: 'models', value, lineOf: () => 1 }]);
}

/** The checks of files name a line, which a list does not have. */
function refuse(error: unknown): never {
  throw error instanceof FileRefused ? conflict(error.faults[0]?.message ?? error.message, 'models') : error;
}
