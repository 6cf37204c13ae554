import type { Pool } from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { compareCatalogueOperation } from '#lib/control/operations/catalogue/compare';
import { listPrices } from '#lib/control/operations/price/operations';
import { setPrice, withdrawPrice } from '#lib/control/operations/price/set';
import { ask } from '#lib/control/operations/run';
import { formatUsd } from '#lib/core/money';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { followCatalogue } from '#lib/programs/process/memory/follow-catalogue';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import { controlHost } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
const host = controlHost(db);
const actor = { kind: 'operator', name: 'test', address: null } as const;
const sources = { envSecret: () => undefined, sealingKey: null, report: () => undefined };

const file = (input: string) => ({
  name: 'acme.yaml',
  text: `providers: [{ id: acme, name: Acme, families: { chat: "https://acme.test/v1" } }]
models:
  - { id: acme/one, name: O, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: acme, upstreamModel: o, families: [chat], price: { input: "${input}" } }] }
`,
});
const apply = (input: string) =>
  ask(host, applyCatalogue, { actor, input: { files: [file(input)], prune: false } });
const compare = (input: string) =>
  ask(host, compareCatalogueOperation, { actor, input: { files: [file(input)] } });
const set = (input: string, more: object = {}) =>
  ask(host, setPrice, {
    actor,
    input: { model: 'acme/one', provider: 'acme', price: { input }, ...more },
  });
const withdraw = (id: string) => ask(host, withdrawPrice, { actor, input: { id } });
const list = async () =>
  (await ask(host, listPrices, { actor, input: { model: 'acme/one' } })).data.map(
    ({ text, state }) => `${text}, ${state}`,
  );
const charged = (catalogue: Awaited<ReturnType<typeof loadCatalogue>>) =>
  formatUsd(catalogue.models.get('acme/one')?.offers[0]?.price?.price.base.input ?? -1n);
const inForce = async () => charged(await loadCatalogue(db.pool, sources));
const later = (ms: number) => new Date(Date.now() + ms).toISOString();
const trail = () => db.prisma.audit.count({ where: { action: { startsWith: 'price.' } } });

beforeEach(async () => {
  await db.prisma.priceVersion.deleteMany();
  await apply('1');
});

describe('a price that an operator sets (contract: money/dated-prices)', () => {
  it('is in force at once, and leaves what it was before', async () => {
    const before = await trail();
    await set('2');
    expect(await list()).toEqual(['$2 in, in force', '$1 in, past']);
    expect(await inForce()).toBe('2');
    expect(await trail()).toBe(before + 1);
    await set('2');
    expect([await trail(), (await list()).length]).toEqual([before + 1, 2]);
  });

  it('waits for its moment, while files are compared with the price in force', async () => {
    const { id } = await set('3', { effectiveAt: later(86_400_000) });
    expect(await list()).toEqual(['$3 in, scheduled', '$1 in, in force']);
    expect(await inForce()).toBe('1');
    expect((await compare('1')).changes).toEqual([]);
    expect((await compare('3')).changes).toEqual([expect.stringContaining('price $1 in → $3 in')]);
    await apply('2');
    expect(await list()).toEqual(['$3 in, scheduled', '$2 in, in force', '$1 in, past']);
    await withdraw(id);
    expect(await list()).toEqual(['$2 in, in force', '$1 in, past']);
  });

  it('is refused in the past, twice for one moment, and for what is not offered or costs nothing said', async () => {
    const at = later(86_400_000);
    await set('3', { effectiveAt: at });
    expect(await refusalOf(set('4', { effectiveAt: at }))).toContain('already a price for this time');
    expect(await refusalOf(set('4', { effectiveAt: later(-1000) }))).toContain('choose a later time');
    expect(await refusalOf(set('4', { price: {} }))).toContain('needs a rate');
    expect(await refusalOf(set('4', { model: 'acme/none' }))).toContain('no offer of "acme/none"');
    await db.prisma.offer.updateMany({ data: { withdrawnAt: new Date() } });
    expect(await refusalOf(set('4'))).toContain('this offer is withdrawn');
  });

  it('is not taken back once calls may have it', async () => {
    const [{ id: now = '' } = {}] = await db.prisma.priceVersion.findMany();
    const { id: soon } = await set('3', { effectiveAt: later(30_000) });
    for (const id of [now, soon])
      expect(await refusalOf(withdraw(id))).toContain('set another price instead');
    expect(await refusalOf(withdraw('nothing'))).toContain('there is no price version');
  });

  it('takes the place of the price that was looked at alone: of ten pages at once, one sets it', async () => {
    const [{ id: replaces = '' } = {}] = await db.prisma.priceVersion.findMany();
    const pages = Array.from({ length: 10 }, (_, nth) => set(`${nth + 2}`, { replaces }));
    const ended = await Promise.allSettled(pages);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await list()).toHaveLength(2);
  });
});

describe('the catalogue that a process goes by (contract: money/dated-prices)', () => {
  it('has a price from its moment on, though nothing is changed then', async () => {
    const followed = await followCatalogue(db.pool, sources);
    const { id } = await set('5', { effectiveAt: later(86_400_000) });
    await db.pool.query(
      `UPDATE price_version SET effective_at = clock_timestamp() + interval '0.3 s' WHERE id = $1`,
      [id],
    );
    await followed.load();
    await expect.poll(() => charged(followed.inForce()), { interval: 20 }).toBe('5');
    followed.stop();
  });

  it('never goes back to what an earlier reading saw, which ended later', async () => {
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let held = false;
    // The second reading is answered, and told late.
    const slow = new Proxy(db.pool, {
      get: (pool, name) => {
        if (name !== 'connect') return Reflect.get(pool, name).bind(pool);
        return async () => {
          const client = await pool.connect();
          if (!held) return client;
          held = false;
          const release = client.release.bind(client);
          const query = client.query.bind(client) as (text: string) => Promise<unknown>;
          const late = async (text: string) => {
            const rows = await query(text);
            if (text !== 'COMMIT') return rows;
            asked.resolve();
            await answer.promise;
            return rows;
          };
          return { query: late, release };
        };
      },
    }) as Pool;
    const followed = await followCatalogue(slow, sources);
    held = true;
    const early = followed.load();
    await asked.promise;
    await set('6');
    await followed.load();
    answer.resolve();
    await early;
    expect(charged(followed.inForce())).toBe('6');
    followed.stop();
  });
});
