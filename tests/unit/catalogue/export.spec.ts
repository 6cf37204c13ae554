import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, offerKey, type StoredCatalogue } from '#lib/control/catalogue/difference';
import { catalogueYaml, exportCatalogue } from '#lib/control/catalogue/export';
import { type CatalogueSet, checkCatalogue } from '#lib/control/catalogue/files';
import { credentialKey, plainSettings, type StoredCredential } from '#lib/control/catalogue/pool';
import { abilities } from '#lib/core/facts/abilities';
import { storeFamilies, storeNames } from '#lib/core/facts/stores';
import { familyIds } from '#lib/core/families/ids';
import { offeredOperations } from '#lib/core/families/served';
import { tokenClasses } from '#lib/core/metering/usage';
import { type CatalogueFile, type FileProvider, inputKinds, outputKinds } from '#lib/core/schemas/catalogue';
import { isUnpriced, readFilePrice } from '#lib/core/schemas/price';

/** What can be set of providers, models and offers, drawn at random in every combination that a file may have. */
const word = fc.stringMatching(/^[a-z][a-z0-9.-]{0,11}$/);
/** Text that YAML could mistake for something else. */
const name = fc.oneof(
  fc.constantFrom(
    'yes',
    'null',
    '1e3',
    '0x10',
    '2027-01-31',
    '- a',
    'a: b',
    '"',
    '# no',
    '~',
    '世界',
    "it's",
  ),
  fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }).filter((text) => text.isWellFormed()),
);
const rate = fc.oneof(
  fc.constantFrom('0', '0.25', '12.5', '0.000000001', '999999999.999999999'),
  fc
    .bigInt({ min: 0n, max: 10n ** 12n })
    .map((nano) => `${nano / 10n ** 9n}.${String(nano % 10n ** 9n).padStart(9, '0')}`),
);
const rates = fc.record(
  {
    characters: rate,
    audioHour: fc.constantFrom('0.36', '0.006', '1'),
    request: rate,
    webSearch: rate,
    image: fc.oneof(
      rate,
      fc.dictionary(fc.constantFrom('default', 'low', '1024x1024'), rate, { minKeys: 1 }),
    ),
    videoSecond: fc.oneof(rate, fc.dictionary(fc.constantFrom('default', '720p'), rate, { minKeys: 1 })),
    ...Object.fromEntries(tokenClasses.map((one) => [one, rate])),
  },
  { requiredKeys: [] },
);
const banded = fc
  .tuple(rates, fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 2 }), rates)
  .map(([base, edges, above]) => ({
    ...base,
    ...(edges.length > 0 && {
      tiers: edges.toSorted((a, b) => a - b).map((aboveInputTokens) => ({ aboveInputTokens, ...above })),
    }),
  }));
const price = fc
  .tuple(banded, fc.dictionary(fc.constantFrom('flex', 'priority', 'batch'), banded))
  .map(([base, serviceTiers]) => ({
    ...base,
    ...(Object.keys(serviceTiers).length > 0 && { serviceTiers }),
  }));
const known = fc.dictionary(fc.constantFrom(...abilities), fc.boolean());
const day = fc.constantFrom('2026-12-31', '2027-02-28');
const variable = fc.record({ env: fc.stringMatching(/^[A-Z][A-Z0-9_]{0,12}$/) });
const address = fc.constantFrom('https://a.example/v1', 'http://10.0.0.1:8000', 'https://b.example');

/** Of a pool; its models are chosen among those of the file. */
const pooled = fc.record(
  {
    name: fc.oneof(fc.constant('default'), word),
    credential: fc.oneof(variable, fc.constant('none' as const)),
    weight: fc.integer({ min: 1, max: 1000 }),
    priority: fc.integer({ min: 1, max: 100 }),
    rpm: fc.integer({ min: 1, max: 2_147_483_647 }),
    tpm: fc.integer({ min: 1, max: 2_147_483_647 }),
    served: fc.array(fc.nat(), { maxLength: 2 }),
    withdrawn: fc.boolean(),
  },
  { requiredKeys: ['name'] },
);

const provider = fc
  .record(
    {
      id: word,
      name,
      families: fc.dictionary(fc.constantFrom(...familyIds), fc.oneof(address, variable), { minKeys: 1 }),
      credential: fc.oneof(variable, fc.constant('none' as const)),
      pool: fc.uniqueArray(pooled, { maxLength: 4, selector: ({ name }) => name }),
      acceptNewModels: fc.boolean(),
      header: fc.constantFrom('authorization', 'x-api-key', 'api-key'),
      auth: fc.constantFrom(
        { kind: 'entra-id', scope: 's/.default' },
        { kind: 'aws-sigv4', region: 'us-east-1', service: 'bedrock' },
        { kind: 'google-service-account' },
      ),
      variants: fc.constantFrom({ messages: 'bedrock' }, { messages: 'vertex' }),
      onDisconnect: fc.constantFrom('abort', 'drain'),
      stores: fc.subarray([...storeNames]),
      pricesFrom: address,
    },
    { requiredKeys: ['id', 'name', 'families'] },
  )
  .map(({ header, stores, variants, ...one }) => ({
    ...one,
    ...(header && { credentialHeaders: { [Object.keys(one.families)[0] ?? '']: header } }),
    ...(variants && 'messages' in one.families && { variants }),
    ...(stores && { stores: stores.filter((store) => storeFamilies[store] in one.families) }),
  }));

const offer = fc.record(
  {
    upstreamModel: name,
    families: fc.subarray([...familyIds], { minLength: 1 }),
    price,
    retires: day,
    outputBudgetField: fc.constantFrom('max_tokens', 'max_completion_tokens'),
    streamUsage: fc.constant('never'),
    streamEnd: fc.constant('none'),
    denyBetas: fc.array(word),
    abilities: known,
    served: fc.nat(),
  },
  { requiredKeys: ['upstreamModel', 'families'] },
);
const model = fc.record(
  {
    id: word.map((id) => `m/${id}`),
    name,
    aliases: fc.uniqueArray(
      word.map((id) => `a/${id}`),
      { maxLength: 2 },
    ),
    contextTokens: fc.nat(2_147_483_647),
    maxOutputTokens: fc.nat(2_147_483_647),
    input: fc.subarray([...inputKinds], { minLength: 1 }),
    output: fc.subarray([...outputKinds], { minLength: 1 }),
    reasoning: fc.boolean(),
    released: fc.constantFrom('2026-07', '2026-07-02'),
    retires: day,
    abilities: known,
    offers: fc.array(offer, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ['id', 'name', 'contextTokens', 'maxOutputTokens', 'input', 'output', 'offers'] },
);

/** As a file that `apply` takes; each model is offered by providers of the file. */
const catalogue = fc
  .tuple(
    fc.uniqueArray(provider, { minLength: 3, maxLength: 4, selector: ({ id }) => id }),
    fc.uniqueArray(model, { maxLength: 4, selector: ({ id }) => id }),
  )
  .map(([providers, models]) => {
    const taken = new Set<string>();
    const ids = models.map(({ id }) => id);
    return {
      providers: providers.map(({ pool, ...one }) => ({
        ...one,
        ...(pool && { credentials: pool.map((each) => pooledOf(each, ids)) }),
      })),
      models: models.map(({ aliases = [], ...one }) => ({
        ...one,
        aliases: aliases.filter((alias) => !taken.has(alias) && taken.add(alias)),
        offers: one.offers.flatMap((each, at) => {
          const by = providers[at];
          if (!by) return [];
          const { served = 0, ...rest } = each;
          const spoken = familyIds.filter((family) => family in by.families);
          const both = each.families.filter((family) => spoken.includes(family));
          const families = both.length > 0 ? both : spoken;
          const all = offeredOperations(families);
          return [
            { ...rest, provider: by.id, families, operations: all.slice(0, served % (all.length + 1)) },
          ];
        }),
      })),
    };
  });

type Pooled = typeof pooled extends fc.Arbitrary<infer Value> ? Value : never;

/** The default credential has none of its own here; a credential for no model at all is one for every model. */
function pooledOf({ credential, served = [], ...one }: Pooled, ids: readonly string[]) {
  const models = [...new Set(served.map((at) => ids[at % ids.length] ?? ''))].filter(Boolean);
  return {
    ...one,
    ...(one.name !== 'default' && credential && { credential }),
    ...(models.length > 0 && { models }),
  };
}

const checked = (file: string) => checkCatalogue([{ name: 'file.yaml', text: file }]);

/** What the database has once a file was applied to an empty one. */
function storedOf({ providers, models }: CatalogueSet): StoredCatalogue {
  return {
    providers: new Map(
      providers.map((one) => {
        const { credentials: _, credential = null, auth = null, pricesFrom = null, ...rest } = one;
        const { acceptNewModels = false } = one;
        return [one.id, { ...rest, credential, auth, pricesFrom, acceptNewModels, sealed: false }];
      }),
    ),
    credentials: new Map(
      providers.flatMap((one) => poolOf(one).map((each) => [credentialKey(one.id, each.name), each])),
    ),
    models: new Map(models.map(({ offers: _, ...one }) => [one.id, one])),
    offers: new Map(
      models.flatMap(({ id: modelId, offers }) =>
        offers.map((one, position) => {
          const { provider: providerId, price: given, ...facts } = one;
          const { outputBudgetField = null, streamUsage = null, streamEnd = null, retires = null } = facts;
          const read = given === undefined ? null : readFilePrice(given);
          const stored = {
            id: offerKey(modelId, providerId),
            modelId,
            providerId,
            facts: { ...facts, position, outputBudgetField, streamUsage, streamEnd, retires },
            withdrawn: false,
            price: read === null || isUnpriced(read) ? null : read,
          };
          return [stored.id, stored];
        }),
      ),
    ),
  };
}

function poolOf({ id: providerId, credential, credentials = [] }: FileProvider): StoredCredential[] {
  const pool = credentials.map(({ name, credential: own = null, ...one }) => {
    const { rpm = null, tpm = null, models = null } = one;
    return { providerId, name, credential: own, sealed: false, settings: { ...one, rpm, tpm, models } };
  });
  const lacks = credential !== undefined && !pool.some(({ name }) => name === 'default');
  const plain = { providerId, name: 'default', credential: null, sealed: false, settings: plainSettings };
  return lacks ? [...pool, plain] : pool;
}

const empty: StoredCatalogue = {
  credentials: new Map(),
  providers: new Map(),
  models: new Map(),
  offers: new Map(),
};

describe('an exported catalogue (contract: operations/catalogue-export)', () => {
  it('is a file that changes nothing where it comes from, and makes the same catalogue elsewhere', () => {
    fc.assert(
      fc.property(catalogue, (drawn) => {
        const stored = storedOf(checked(JSON.stringify(drawn)));
        const file = catalogueYaml(exportCatalogue(stored));
        const again = checked(file);
        expect(compare(again, stored).lines).toEqual([]);
        const elsewhere = compare(again, empty);
        expect(elsewhere.newProviders.length).toBe(drawn.providers.length);
        expect(elsewhere.newModels.length).toBe(stored.models.size);
        const exported: CatalogueFile = exportCatalogue(storedOf(again));
        expect(catalogueYaml(exported)).toBe(file);
      }),
      { numRuns: 60 },
    );
  });
});
