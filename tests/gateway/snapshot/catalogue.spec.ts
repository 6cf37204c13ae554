import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { type Db, openDb } from '#lib/platform/data/db';
import { credentialContext, seal } from '#lib/platform/sealing';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const sealingKey = Buffer.alloc(32, 5);
let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  const families = {
    chat: 'https://a.example/v1',
    responses: { env: 'A_URL' },
    messages: { env: 'UNSET_URL' },
    images: { env: 'BAD_URL' },
    videos: { env: 'FILE_URL' },
  };
  await db.prisma.provider.createMany({
    data: [
      { id: 'a', name: 'A', families, credential: { env: 'A_KEY' }, onDisconnect: 'drain' },
      {
        id: 'b',
        name: 'B',
        families: { chat: 'https://b.example' },
        credential: { env: 'B_KEY' },
        credentialHeaders: { chat: 'api-key' },
      },
      {
        id: 'c',
        name: 'C',
        families: { chat: 'https://c.example' },
        credential: { sealed: seal('sk-c', sealingKey, credentialContext('c')) },
      },
      {
        id: 'd',
        name: 'D',
        families: { chat: 'https://d.example' },
        credential: { sealed: seal('sk-d', sealingKey, credentialContext('c')) },
      },
      { id: 'e', name: 'E', families: { chat: 'https://e.example' } },
    ],
  });
  const sizes = { contextTokens: 1000, maxOutputTokens: 100, input: ['text'], output: ['text'] };
  await db.prisma.model.createMany({
    data: [
      { id: 'm/one', name: 'One', ...sizes, reasoning: true, retires: '2027-01-31' },
      { id: 'm/none', name: 'None', ...sizes },
    ],
  });
  const uuid = (n: number) => `00000000-0000-7000-8000-00000000000${n}`;
  const offer = { modelId: 'm/one', upstreamModel: 'one', families: ['chat'] };
  await db.prisma.offer.createMany({
    data: [
      { id: uuid(1), ...offer, providerId: 'a', position: 2, streamUsage: 'never', denyBetas: ['x'] },
      { id: uuid(2), ...offer, providerId: 'b', position: 1, outputBudgetField: 'max_tokens' },
      { id: uuid(3), ...offer, providerId: 'c', position: 3, withdrawnAt: new Date() },
      { id: uuid(4), ...offer, providerId: 'd', position: 4, retires: '2026-10-23' },
    ],
  });
  const rate = (input: string) => ({ base: { input }, tiers: [], serviceTiers: {} });
  await db.prisma.priceVersion.createMany({
    data: [
      { id: uuid(5), offerId: uuid(1), price: rate('1'), effectiveAt: new Date('2026-01-01') },
      { id: uuid(6), offerId: uuid(1), price: rate('2'), effectiveAt: new Date('2026-02-01') },
      { id: uuid(7), offerId: uuid(1), price: rate('3'), effectiveAt: new Date('2999-01-01') },
      { id: uuid(8), offerId: uuid(2), price: { base: 'broken' } },
    ],
  });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

function load(key: Uint8Array | null = sealingKey, reports: unknown[] = []) {
  const values: Record<string, string> = {
    A_KEY: 'sk-a',
    A_URL: ' http://10.0.0.1:8080/v1 ',
    BAD_URL: 'not a url',
    FILE_URL: 'file:///etc/passwd',
    B_KEY: '',
  };
  return loadCatalogue(db.pool, {
    envSecret: (name) => values[name],
    sealingKey: key,
    report: (error) => reports.push(error),
  });
}

describe('the catalogue in force (contract: durability/snapshot)', () => {
  it('distinguishes ready, missing and invalid addresses and says why, without quoting them', async () => {
    const { providers } = await load();
    const addresses = providers.get('a')?.families;
    expect(addresses?.get('chat')).toMatchObject({ state: 'ready', url: new URL('https://a.example/v1') });
    expect(addresses?.get('responses')).toMatchObject({ url: new URL('http://10.0.0.1:8080/v1') });
    expect(addresses?.get('messages')).toEqual({
      state: 'missing',
      why: 'the environment variable UNSET_URL is not set',
    });
    expect(addresses?.get('images')).toEqual({
      state: 'invalid',
      why: 'the environment variable BAD_URL is not a URL',
    });
    expect(addresses?.get('videos')).toMatchObject({ state: 'invalid' });
    expect(addresses?.has('generate-content')).toBe(false);
  });

  it('resolves credentials from the environment and from sealed values', async () => {
    const reports: unknown[] = [];
    const { providers } = await load(sealingKey, reports);
    const credentials = [...providers.values()].map((one) => [
      one.id,
      one.credentials[0]?.secret ?? null,
      one.credentialEnv,
    ]);
    expect(credentials).toEqual([
      ['a', 'sk-a', 'A_KEY'],
      ['b', null, 'B_KEY'],
      ['c', 'sk-c', null],
      ['d', null, null],
      ['e', null, null],
    ]);
    expect(reports.map(String).join()).toContain('cannot be decrypted');
    expect((await load(null)).providers.get('c')?.credentials).toEqual([]);
  });

  it('lists offers in catalogue order without the withdrawn, at the newest price effective now', async () => {
    const { models } = await load();
    const offers = models.get('m/one')?.offers ?? [];
    expect(offers.map((offer) => offer.provider.id)).toEqual(['b', 'a', 'd']);
    expect(offers.map((offer) => offer.price?.price.base.input ?? null)).toEqual([null, 2n, null]);
    expect(offers[1]).toMatchObject({
      upstreamModel: 'one',
      families: new Set(['chat']),
      streamUsage: 'never',
      outputBudgetField: null,
      denyBetas: ['x'],
    });
    expect(offers[0]?.outputBudgetField).toBe('max_tokens');
    const [fromModel, own] = [Date.UTC(2027, 1, 1), Date.UTC(2026, 9, 24)];
    expect(offers.map(({ servedUntilMs }) => servedUntilMs)).toEqual([fromModel, fromModel, own]);
    expect(offers[0]?.provider.credentialHeaders).toEqual(new Map([['chat', 'api-key']]));
    expect(offers[1]?.provider.credentialHeaders).toEqual(new Map());
    expect(offers[1]?.provider.onDisconnect).toBe('drain');
    expect(models.get('m/none')?.offers).toEqual([]);
    expect([...models.values()].map(({ id, reasoning }) => [id, reasoning])).toEqual([
      ['m/none', false],
      ['m/one', true],
    ]);
  });
});
