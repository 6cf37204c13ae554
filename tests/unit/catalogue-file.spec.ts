import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinCatalogues, readCatalogue } from '#lib/control/catalogue/files';
import { catalogueShape } from '#lib/core/schemas/catalogue';
import { FileRefused, readDocument } from '#lib/core/schemas/document';
import { policyShape } from '#lib/core/schemas/policy';
import { isUnpriced, parsePrice, readFilePrice, storePrice } from '#lib/core/schemas/price';

const good = `providers:
  - id: acme
    name: Acme
    families: { chat: https://api.acme.test/v1, images: { env: ACME_IMAGES } }
    credential: { env: ACME_KEY }
models:
  - id: acme/large
    name: Large
    contextTokens: 1000
    maxOutputTokens: 100
    input: [text]
    output: [text]
    offers:
      - provider: acme
        upstreamModel: large
        families: [chat]
        price: { input: "2", output: "8" }
`;

function faultsOf(text: string, file = 'file.yaml'): string[] {
  try {
    joinCatalogues([readDocument(file, text, catalogueShape)]);
  } catch (error) {
    if (error instanceof FileRefused) return error.message.split('\n');
    throw error;
  }
  return [];
}

/** The good file with one line replaced. */
function broken(line: number, text: string): string[] {
  return faultsOf(
    good
      .split('\n')
      .with(line - 1, text)
      .join('\n'),
  );
}

/** Models of embeddings and scores have no output tokens, and cache nothing. */
/** Models that may read a long prompt again: not those of vectors, scores and sound. */
const writes = ({
  output,
  offers,
}: {
  output: readonly string[];
  offers: readonly { families: readonly string[] }[];
}) =>
  !output.some((kind) => kind === 'embedding' || kind === 'scores' || kind === 'audio') &&
  !offers.some(({ families }) => families.includes('transcriptions'));

describe('a catalogue file (contract: operations/catalogue-file)', () => {
  it('is read when it is right', () => {
    expect(faultsOf(good)).toEqual([]);
  });

  it('gives the provider that simulated money pays no other address than its own (contract: money/simulated-money)', () => {
    const named = (families: string) =>
      faultsOf(
        good
          .replaceAll('acme\n', 'sandbox\n')
          .replace('{ chat: https://api.acme.test/v1, images: { env: ACME_IMAGES } }', families),
      );
    expect(named('{ chat: { env: SANDBOX_URL }, images: { env: SANDBOX_URL } }')).toEqual([]);
    expect(named('{ chat: { env: SANDBOX_URL }, images: { env: ACME_IMAGES } }')[0]).toContain(
      'give a real provider another id',
    );
    expect(named('{ chat: https://api.acme.test/v1 }')[0]).toContain('give a real provider another id');
  });

  it('names each model by its own names alone', () => {
    const named = (alias: string) =>
      good.replace('    name: Large\n', `    name: Large\n    aliases: [${alias}]\n`);
    expect(faultsOf(named('large-latest, large-2026-01-01'))).toEqual([]);
    expect(faultsOf(named('large, large'))[0]).toContain('model "large" is already defined at');
    expect(faultsOf(named('acme/large'))[0]).toContain('model "acme/large" is already defined at');
    expect(faultsOf(named('"a b"'))[0]).toContain('is not a model id');
  });

  it('may be JSON', () => {
    const json = JSON.stringify(readDocument('f', good, catalogueShape).value, null, 2);
    expect(faultsOf(json)).toEqual([]);
    expect(faultsOf(json.replace('"contextTokens": 1000', '"contextTokens": "many"'))[0]).toMatch(
      /^file\.yaml:\d+: models\[0\]\.contextTokens:/,
    );
  });

  it.each([
    [
      'an address that is no URL',
      4,
      '    families: { chat: acme }',
      'file.yaml:4: providers[0].families.chat: ',
    ],
    ['an address with a password', 4, '    families: { chat: "https://a:b@c" }', 'file.yaml:4: '],
    [
      'an unknown family',
      4,
      '    families: { chats: https://c }',
      'file.yaml:4: providers[0].families.chats: ',
    ],
    ['an unknown key', 5, '    secret: x', 'file.yaml:5: providers[0].secret: is not a known key'],
    ['a fraction of a token', 9, '    contextTokens: 12.5', 'file.yaml:9: models[0].contextTokens: '],
    ['an unknown modality', 11, '    input: [txt]', 'file.yaml:11: models[0].input[0]: '],
    [
      'an offer at an unlisted family',
      16,
      '        families: [videos]',
      'file.yaml:14: provider "acme" has no',
    ],
    [
      'a price that is a number',
      17,
      '        price: { input: 2 }',
      'file.yaml:17: models[0].offers[0].price.input: ',
    ],
    ['a price that is negative', 17, '        price: { input: "-2" }', 'file.yaml:17: '],
    ['a price with too many decimals', 17, '        price: { input: "0.0000000001" }', 'file.yaml:17: '],
    [
      'an unknown price class',
      17,
      '        price: { inputs: "2" }',
      'file.yaml:17: models[0].offers[0].price.inputs: ',
    ],
    [
      'tiers out of order',
      17,
      '        price: { tiers: [{ aboveInputTokens: 9 }, { aboveInputTokens: 8 }] }',
      'file.yaml:17: ',
    ],
    [
      'no day',
      16,
      '        families: [chat]\n        retires: soon',
      'file.yaml:17: models[0].offers[0].retires: ',
    ],
    [
      'an unknown ability',
      16,
      '        families: [chat]\n        abilities: { juggling: true }',
      'file.yaml:17: models[0].offers[0].abilities',
    ],
    [
      'an operation of another family',
      16,
      '        families: [chat]\n        operations: [messages.create]',
      'file.yaml:17: models[0].offers[0].operations: ',
    ],
    [
      'a header that holds no credential',
      5,
      '    credentialHeaders: { chat: cookie }',
      'file.yaml:5: providers[0].credentialHeaders.chat: ',
    ],
    [
      'a header of a family without an address',
      5,
      '    credentialHeaders: { messages: authorization }',
      'file.yaml:5: providers[0].credentialHeaders: ',
    ],
    [
      'a secret of the default credential in the pool',
      5,
      '    credentials: [{ name: default, credential: { env: ACME_KEY } }]',
      'file.yaml:5: providers[0].credentials[0].credential: is that of default',
    ],
    [
      'two credentials of the same name',
      5,
      '    credentials:\n      - { name: a }\n      - { name: a, weight: 2 }',
      'file.yaml:5: providers[0].credentials: has two credentials of the same name',
    ],
    [
      'a name that no credential can have',
      5,
      '    credentials: [{ name: "own:a" }]',
      'file.yaml:5: providers[0].credentials[0].name: ',
    ],
    [
      'a weight of none',
      5,
      '    credentials: [{ name: a, weight: 0 }]',
      'file.yaml:5: providers[0].credentials[0].weight: is not a whole number from 1 to 1000',
    ],
    [
      'a credential for no model',
      5,
      '    credentials: [{ name: a, models: [] }]',
      'file.yaml:5: providers[0].credentials[0].models: names no model',
    ],
    [
      'a secret beside its name',
      5,
      '    credentials: [{ name: a, value: sk-1 }]',
      'file.yaml:5: providers[0].credentials[0].value: ',
    ],
    ['broken YAML', 11, '    input: [text', 'file.yaml:1'],
  ])('names the line of %s', (_, line, text, expected) => {
    const faults = broken(line, text);
    expect(faults.join('\n')).toContain(expected);
  });

  it('names the line of the map that misses a key', () => {
    expect(broken(8, '    # no name')).toEqual(['file.yaml:7: models[0].name: is missing']);
  });

  it('reports every fault at once', () => {
    const text = good.replace('contextTokens: 1000', 'contextTokens: x').replace('[chat]', '[]');
    expect(faultsOf(text)).toHaveLength(2);
  });

  it('refuses a duplicate model or offer, and says where the first one is', () => {
    const models = good.slice(good.indexOf('models:') + 'models:\n'.length);
    expect(faultsOf(good + models).join('\n')).toContain(
      'model "acme/large" is already defined at file.yaml:7',
    );
    const offer = good.slice(good.indexOf('      - provider: acme'));
    expect(faultsOf(good + offer)[0]).toContain(
      'offer of acme/large at "acme" is already defined at file.yaml:14',
    );
  });
});

describe('a directory of catalogue files', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'catalogue-'));
  });
  afterAll(() => rm(dir, { recursive: true }));

  it('is one catalogue: an offer may name a provider of another file', async () => {
    const at = good.indexOf('models:');
    await writeFile(join(dir, 'a.yaml'), good.slice(at));
    await writeFile(join(dir, 'b.yml'), good.slice(0, at));
    const set = await readCatalogue(dir);
    expect(set.models.map((model) => model.id)).toEqual(['acme/large']);
    expect(set.providers.map((provider) => provider.id)).toEqual(['acme']);
  });

  it('is refused with the faults of all its files', async () => {
    await writeFile(join(dir, 'a.yaml'), 'modls: []');
    await writeFile(join(dir, 'b.yml'), 'providers: 3');
    await expect(readCatalogue(dir)).rejects.toThrow(/a\.yaml:1: modls.*b\.yml:1: providers/s);
  });

  it('that this user may not read is refused as such', async () => {
    const refused = readCatalogue(join(dir, 'a'.repeat(300)));
    await expect(refused).rejects.toThrow(/cannot be read by this user \(ENAMETOOLONG\)/);
  });

  it('that is not there is refused', async () => {
    await expect(readCatalogue(join(dir, 'none'))).rejects.toThrow('does not exist');
  });
});

/** Vendors that read a repeated prefix from their cache at a lower price, by their own pages. */
const discounting = new Set([
  ...[
    'alibaba',
    'anthropic',
    'deepseek',
    'fireworks',
    'google',
    'minimax',
    'mistral',
    'moonshotai',
    'openai',
  ],
  ...['xai', 'zai'],
]);
/** What they do not discount, or name no price for. */
const undiscounted = [
  'google/gemini-3-pro-image at google',
  ...['gpt-5-pro', 'gpt-5.2-pro', 'gpt-5.4-pro', 'gpt-5.5-pro', 'o3-pro'].map(
    (pro) => `openai/${pro} at openai`,
  ),
  'qwen/qwen3.6-flash at alibaba',
];

describe('the catalogue that comes with the gateway', () => {
  const directory = fileURLToPath(new URL('../../catalogue', import.meta.url));

  it('is valid as a whole, and prices every offer', async () => {
    const { models, providers } = await readCatalogue(directory, ['sandbox.yaml']);
    expect(models.length).toBeGreaterThanOrEqual(60);
    expect(providers.map((one) => one.id)).toEqual(expect.arrayContaining(['openai', 'anthropic', 'google']));
    const offers = models.flatMap((model) => model.offers.map((offer) => ({ model: model.id, ...offer })));
    expect(offers.filter((offer) => !offer.price).map((offer) => offer.model)).toEqual([]);
    const writing = new Set(models.filter(writes).map(({ id }) => id));
    const unpriced = offers.filter(({ price, model }) => price?.input && !price.output && writing.has(model));
    expect(unpriced.map(({ model }) => model)).toEqual([]);
  });

  it('has a price of cached input wherever the vendor discounts it', async () => {
    const { models } = await readCatalogue(directory, ['sandbox.yaml']);
    const lacking = models.filter(writes).flatMap((model) =>
      model.offers
        .filter(({ provider }) => discounting.has(provider))
        .filter(({ price }) => {
          const { base, tiers, serviceTiers } = readFilePrice(price ?? {});
          const long = [tiers, ...Object.values(serviceTiers).map((one) => one.tiers ?? [])].flat();
          const bands = [base, ...Object.values(serviceTiers), ...long.map(({ rates }) => rates)];
          return bands.some(({ input, cachedInput }) => input !== undefined && cachedInput === undefined);
        })
        .map(({ provider }) => `${model.id} at ${provider}`),
    );
    expect(lacking.sort()).toEqual(undiscounted);
  });

  it('prices the dearer tiers above the standard one, flex below, and batches as flex or at half', async () => {
    const { models } = await readCatalogue(directory, ['sandbox.yaml']);
    const priced = models.flatMap((model) => model.offers.map((offer) => ({ model, price: offer.price })));
    const odd = priced.flatMap(({ model, price }) => {
      const { base, serviceTiers } = readFilePrice(price ?? {});
      return Object.entries(serviceTiers).flatMap(([name, rates]) =>
        (['input', 'cachedInput', 'cacheWrite5m', 'cacheWrite1h', 'output'] as const).flatMap((kind) => {
          const [own, standard] = [rates[kind], base[kind]];
          if (own === undefined || standard === undefined) {
            return own === standard ? [] : `${model.id} ${name}: ${kind} has a price in one of the two`;
          }
          const { flex } = serviceTiers;
          const fits =
            name === 'batch'
              ? own === (flex ? flex[kind] : standard / 2n)
              : name === 'flex'
                ? own <= standard
                : own > standard;
          return fits ? [] : `${model.id} ${name}: ${kind}`;
        }),
      );
    });
    expect(odd).toEqual([]);
    expect(priced.filter(({ price }) => price?.serviceTiers).length).toBeGreaterThan(30);
  });

  it('takes every credential from the environment', async () => {
    const { providers } = await readCatalogue(directory);
    for (const provider of providers) expect(provider.credential).toHaveProperty('env');
  });
});

describe('a price (contract: operations/catalogue-price)', () => {
  const price = readFilePrice({
    input: '2',
    cachedInput: '0.003625',
    image: { '1024x1024/high': '0.04', default: '0.02' },
    webSearch: '0.01',
    tiers: [{ aboveInputTokens: 200_000, input: '4' }],
    serviceTiers: { flex: { input: '1', tiers: [{ aboveInputTokens: 200_000, input: '2' }] } },
  });

  it('is integers of nano-dollars per million units, pieces too', () => {
    expect(price.base.input).toBe(2_000_000_000n);
    expect(price.base.cachedInput).toBe(3_625_000n);
    expect(price.base.webSearch).toBe(10_000_000_000_000n);
    expect(price.base.image).toEqual({ '1024x1024/high': 40_000_000_000_000n, default: 20_000_000_000_000n });
    expect(price.tiers).toEqual([{ aboveInputTokens: 200_000, rates: { input: 4_000_000_000n } }]);
    expect(price.serviceTiers).toEqual({
      flex: {
        input: 1_000_000_000n,
        tiers: [{ aboveInputTokens: 200_000, rates: { input: 2_000_000_000n } }],
      },
    });
  });

  it('comes back from storage as it was', () => {
    expect(parsePrice(JSON.parse(JSON.stringify(storePrice(price))))).toEqual(price);
  });

  it('without any class is no price, with a free one it is', () => {
    expect(isUnpriced(readFilePrice({}))).toBe(true);
    expect(isUnpriced(readFilePrice({ input: '0', output: '0' }))).toBe(false);
  });
});

describe('a policy file (contract: operations/policy-file)', () => {
  const fault = (text: string) => {
    try {
      readDocument('policy.json', text, policyShape);
    } catch (error) {
      return error instanceof FileRefused ? error.message : String(error);
    }
    return null;
  };

  it('takes every key of its description, and none at all', () => {
    expect(fault('{}')).toBeNull();
    expect(
      fault(`{ "sort": "price", "only": ["a"], "ignore": ["b"], "weights": { "a": 3 }, "maxAttempts": 4,
        "fallbackModels": ["v/m"], "maxPrice": { "input": "5" }, "timeouts": { "idleMs": 1000 } }`),
    ).toBeNull();
  });

  it.each([
    ['an unknown key', '{\n "sorts": "price" }', 'policy.json:2: sorts: is not a known key'],
    ['an unknown sort', '{\n "sort": "luck" }', 'policy.json:2: sort: '],
    [
      'a provider in order and weights',
      '{ "order": ["a"],\n "weights": {\n "a": 3 } }',
      'policy.json:3: weights.a: ',
    ],
    ['a fifth attempt', '{\n "maxAttempts": 5 }', 'policy.json:2: maxAttempts: must be at most 4'],
    ['a time limit of 0', '{ "timeouts": {\n "idleMs": 0 } }', 'policy.json:2: timeouts.idleMs: '],
    ['a price that is a number', '{ "maxPrice": {\n "input": 5 } }', 'policy.json:2: maxPrice.input: '],
  ])('with %s is refused by its line', (_, text, expected) => {
    expect(fault(text)).toContain(expected);
  });
});
