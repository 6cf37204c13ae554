import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { type Db, openDb } from '#lib/platform/data/db';
import { meetCatalogue } from '#lib/programs/process/catalogue/at-start';
import { type CommandLine, commandLine } from '#tests/support/command';
import { controlHost } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';

let database: TestDatabase;
let db: Db;
let gateway: CommandLine;
let dir: string;
let made = 0;
/** Id of a test's own provider. */
let own = '';

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  gateway = commandLine(database.url);
});
afterAll(async () => {
  gateway.close();
  await db.close();
  await database.drop();
});
beforeEach(() => {
  made += 1;
  own = `p${made}`;
  dir = mkdtempSync(join(tmpdir(), 'catalogue-start-'));
  mkdirSync(join(dir, 'catalogue'));
  return () => rmSync(dir, { recursive: true, force: true });
});

type Prices = Readonly<Record<string, string>>;

function yaml(prices: Prices, address = `https://${own}.test/v1`): string {
  const models = Object.entries(prices).map(
    ([name, price]) => `
  - { id: ${own}/${name}, name: M, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: ${own}, upstreamModel: m, families: [chat], price: ${price} }] }`,
  );
  return `providers: [{ id: ${own}, name: P, families: { chat: "${address}" }, credential: { env: KEY } }]
models:${models.join('')}
`;
}

/** The files that come with the version now running. */
function ship(prices: Prices): void {
  writeFileSync(join(dir, 'catalogue', 'models.yaml'), yaml(prices));
}

async function apply(text: string, ...flags: string[]): Promise<void> {
  const path = join(dir, 'own.yaml');
  writeFileSync(path, text);
  expect(await gateway.run('catalogue', 'apply', path, ...flags)).toMatchObject({ exit: 0 });
}

/** A start of the gateway: what it wrote to its log. */
async function start(embedded: boolean, warns = true, on = db) {
  const told: { fields: Record<string, unknown>; message: string }[] = [];
  const tell = (fields: object, message: string) => told.push({ fields: { ...fields }, message });
  await meetCatalogue({
    host: controlHost(on),
    catalogueDir: join(dir, 'catalogue'),
    dataDir: dir,
    embedded,
    sandbox: false,
    log: { info: tell, warn: tell, isLevelEnabled: () => warns },
  });
  return told;
}

/** What the database offers of the test's provider: model, input price and service tiers. */
async function offered(on = db): Promise<Record<string, string>> {
  const { models } = await loadCatalogue(on.pool, { envSecret: () => 'set', sealingKey: null });
  const offers = [...models.values()]
    .flatMap((model) => model.offers)
    .filter((one) => one.provider.id === own);
  return Object.fromEntries(
    offers.map(({ modelId, price }) => [
      modelId.slice(own.length + 1),
      [Number(price?.price.base.input) / 1e9, ...Object.keys(price?.price.serviceTiers ?? {})].join(' '),
    ]),
  );
}

const tiered = '{ input: "2", serviceTiers: { priority: { input: "4" } } }';

describe('a start of the embedded default (contract: operations/catalogue-start)', () => {
  it('takes over models, prices and tiers that are new in its files', async () => {
    await apply(yaml({ a: '{ input: "1" }', b: '{ input: "2" }' }));
    ship({ a: '{ input: "1.5" }', b: tiered, c: '{ input: "3" }' });
    const [told] = await start(true);
    expect(told).toMatchObject({ message: 'catalogue updated', fields: { changes: 4 } });
    expect(await offered()).toEqual({ a: '1.5', b: '2 priority', c: '3' });
    expect(await start(true)).toEqual([]);
  });

  it('leaves what the operator has changed until the files change there, and tells of it', async () => {
    ship({ a: '{ input: "1" }', b: '{ input: "2" }', c: '{ input: "3" }' });
    await apply(yaml({ a: '{ input: "1" }', b: '{ input: "2" }', c: '{ input: "3" }' }));
    await start(true);
    await apply(yaml({ a: '{ input: "9" }', b: '{ input: "9" }' }, 'https://proxy.test/v1'), '--prune');
    const [told] = await start(true);
    expect(told?.fields).toMatchObject({ differences: 4, command: 'gateway catalogue apply catalogue' });
    expect(await offered()).toEqual({ a: '9', b: '9' });
    ship({ a: '{ input: "1" }', b: tiered, c: '{ input: "3" }' });
    await start(true);
    expect(await offered()).toEqual({ a: '9', b: '2 priority' });
    const provider = await db.prisma.provider.findUnique({ where: { id: own } });
    expect(provider?.families).toEqual({ chat: 'https://proxy.test/v1' });
  });

  it('takes over nothing where the operator has a catalogue of their own', async () => {
    ship({ a: '{ input: "1" }' });
    const [told] = await start(true);
    expect(told?.fields).toMatchObject({ differences: 3 });
    expect(await offered()).toEqual({});
  });

  it('starts with files that are wrong', async () => {
    writeFileSync(join(dir, 'catalogue', 'models.yaml'), 'models: 5');
    const [told] = await start(true);
    expect(told?.message).toContain('could not be compared');
  });
});

describe('a start on a server (contract: operations/catalogue-start)', () => {
  it('fills an empty database once, also when three processes start at once', async () => {
    const fresh = await createDatabase();
    const empty = openDb(fresh.url);
    ship({ a: '{ input: "1" }' });
    await Promise.all([start(false, true, empty), start(false, false, empty), start(false, true, empty)]);
    expect(await offered(empty)).toEqual({ a: '1' });
    expect(await empty.prisma.priceVersion.count()).toBe(1);
    expect(await start(false, true, empty)).toEqual([]);
    await empty.close();
    await fresh.drop();
  });

  it('tells what the database lacks and how to take it over, and changes nothing', async () => {
    await apply(yaml({ a: '{ input: "1" }' }));
    ship({ a: '{ input: "1" }', b: tiered });
    expect(await start(false)).toEqual([
      {
        message: expect.stringContaining('differs from the catalogue of this version'),
        fields: {
          differences: 2,
          first: [`+ model ${own}/b`, `+ offer ${own}/b at ${own}: $2 in, priority tier`],
          command: 'gateway catalogue apply catalogue',
        },
      },
    ]);
    expect(await offered()).toEqual({ a: '1' });
  });

  it('is silent where nothing differs', async () => {
    await apply(yaml({ a: '{ input: "1" }' }));
    ship({ a: '{ input: "1" }' });
    expect(await start(false)).toEqual([]);
  });

  it('does not read the files where warnings are not logged', async () => {
    writeFileSync(join(dir, 'catalogue', 'models.yaml'), 'models: 5');
    expect(await start(false)).toHaveLength(1);
    expect(await start(false, false)).toEqual([]);
  });
});
