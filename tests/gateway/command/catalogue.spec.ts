import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { type Db, openDb } from '#lib/platform/data/db';
import { type CommandLine, commandLine } from '#tests/support/command';
import { createDatabase, type TestDatabase } from '#tests/support/database';

let database: TestDatabase;
let db: Db;
let gateway: CommandLine;
let made = 0;
/** Ids of a test's own provider and model. */
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
});

interface Wanted {
  price?: string;
  credential?: string;
  offers?: boolean;
}

function yaml({ price = '{ input: "2" }', credential = '{ env: KEY }', offers = true }: Wanted = {}): string {
  const offer = `
    offers:
      - provider: ${own}
        upstreamModel: m
        families: [chat]${price ? `\n        price: ${price}` : ''}`;
  return `providers:
  - id: ${own}
    name: Provider
    families: { chat: https://${own}.test/v1 }
    credential: ${credential}
models:
  - id: ${own}/model
    name: Model
    contextTokens: 1000
    maxOutputTokens: 100
    input: [text]
    output: [text]${offers ? offer : '\n    offers: []'}
`;
}

function write(text: string): string {
  const path = join(gateway.dir, `${own}.yaml`);
  writeFileSync(path, text);
  return path;
}

async function apply(text: string): Promise<string[]> {
  const path = write(text);
  const ran = await gateway.run('catalogue', 'apply', path, '--json');
  if (ran.exit !== 0) throw new Error(ran.err);
  return JSON.parse(ran.out).changes;
}

async function prices(): Promise<unknown[]> {
  const { rows } = await db.pool.query(
    `SELECT v.price FROM price_version v JOIN offer o ON o.id = v.offer_id
     WHERE o.provider_id = $1 ORDER BY v.effective_at`,
    [own],
  );
  return rows.map((row) => row.price.base);
}

async function inForce() {
  const catalogue = await loadCatalogue(db.pool, {
    envSecret: () => 'set',
    sealingKey: Buffer.alloc(32, 0xbb),
  });
  return catalogue.models.get(`${own}/model`)?.offers ?? [];
}

describe('catalogue apply (contract: operations/catalogue-apply)', () => {
  it('says what it adds, and no change the second time', async () => {
    const path = write(yaml());
    const first = await gateway.run('catalogue', 'apply', path);
    expect(first).toMatchObject({ exit: 0, err: '' });
    expect(first.out.split('\n')).toEqual([
      `+ provider ${own}`,
      `+ model ${own}/model`,
      `+ offer ${own}/model at ${own}: $2 in`,
      '',
    ]);
    expect(await gateway.run('catalogue', 'apply', path)).toEqual({ exit: 0, out: 'no change\n', err: '' });
  });

  it('takes aliases over, and refuses one that another model has', async () => {
    const aliased = (alias: string) =>
      yaml().replace('    name: Model\n', `    name: Model\n    aliases: [${alias}]\n`);
    const mine = `${own}-latest`;
    await apply(yaml());
    expect(await apply(aliased(mine))).toEqual([`~ model ${own}/model: aliases`]);
    expect(await apply(aliased(mine))).toEqual([]);
    own = `${own}x`;
    for (const taken of [mine, `${own.slice(0, -1)}/model`])
      await expect(apply(aliased(taken))).rejects.toThrow(
        `"${taken}" is already a name of ${own.slice(0, -1)}/model`,
      );
  });

  it('takes over the day on which an offer retires, and the headers of credentials', async () => {
    await apply(yaml());
    const retiring = yaml().replace('families: [chat]\n', 'families: [chat]\n        retires: 2027-01-31\n');
    expect(await apply(retiring)).toEqual([`~ offer ${own}/model at ${own}: retires`]);
    expect((await inForce())[0]?.servedUntilMs).toBe(Date.UTC(2027, 1, 1));
    expect(await apply(retiring)).toEqual([]);
    const headers = yaml().replace('models:', '    credentialHeaders: { chat: api-key }\nmodels:');
    expect(await apply(headers)).toEqual([
      `~ provider ${own}: credentialHeaders`,
      `~ offer ${own}/model at ${own}: retires`,
    ]);
    const [offer] = await inForce();
    expect([offer?.servedUntilMs, offer?.provider.credentialHeaders.get('chat')]).toEqual([null, 'api-key']);
  });

  it('adds a price version for a changed price alone', async () => {
    await apply(yaml());
    expect(await apply(yaml({ price: '{ input: "3" }' }))).toEqual([
      `~ offer ${own}/model at ${own}: price $2 in → $3 in`,
    ]);
    await apply(yaml({ price: '{ input: "3" }' }).replace('name: Model', 'name: Renamed'));
    expect(await prices()).toEqual([{ input: '2000000000' }, { input: '3000000000' }]);
    expect((await inForce())[0]?.price?.price.base.input).toBe(3_000_000_000n);
  });

  it('writes a new price once when five apply it at once', async () => {
    await apply(yaml());
    const path = write(yaml({ price: '{ input: "3" }' }));
    const all = await Promise.all(
      [1, 2, 3, 4, 5].map(() => gateway.json<{ changes: string[] }>('catalogue', 'apply', path)),
    );
    expect(all.flatMap(({ changes }) => changes)).toHaveLength(1);
    expect(await prices()).toHaveLength(2);
  });

  it('marks a model that reasons, and unmarks it', async () => {
    await apply(yaml());
    const marked = yaml().replace('name: Model', 'name: Model\n    reasoning: true');
    expect(await apply(marked)).toEqual([`~ model ${own}/model: reasoning`]);
    expect(await apply(marked)).toEqual([]);
    expect(await apply(yaml())).toEqual([`~ model ${own}/model: reasoning`]);
  });

  it('leaves one set of prices when two apply at the same time', async () => {
    const path = write(yaml());
    const ran = await Promise.all([1, 2, 3].map(() => gateway.run('catalogue', 'apply', path)));
    expect(ran.map((one) => one.exit)).toEqual([0, 0, 0]);
    expect(ran.filter((one) => one.out === 'no change\n')).toHaveLength(2);
    expect(await prices()).toEqual([{ input: '2000000000' }]);
  });

  it('names the offers of its providers that it leaves out, and keeps them', async () => {
    await apply(yaml());
    const path = write(yaml({ offers: false }));
    const leftOut = [`offer ${own}/model at ${own}`];
    expect(await gateway.json('catalogue', 'apply', path)).toEqual({ changes: [], leftOut });
    expect((await gateway.run('catalogue', 'apply', path)).out).toBe(
      `no change\nStill in use, though the files omit them (withdraw them with --prune):\n  ${leftOut[0]}\n`,
    );
    expect(await inForce()).toHaveLength(1);
  });

  it('withdraws what it leaves out with --prune, and offers it again', async () => {
    await apply(yaml());
    const path = write(yaml({ offers: false }));
    expect(await gateway.json('catalogue', 'apply', '--prune', path)).toEqual({
      changes: [`- offer ${own}/model at ${own}: withdrawn`],
      leftOut: [],
    });
    expect(await inForce()).toEqual([]);
    expect(await apply(yaml())).toEqual([`~ offer ${own}/model at ${own}: offered again`]);
    expect(await inForce()).toHaveLength(1);
    expect(await prices()).toHaveLength(1);
  });

  it('keeps the offers of a provider that it only refers to', async () => {
    await apply(yaml());
    const more = yaml().slice(yaml().indexOf('models:')).replace(`${own}/model`, `${own}/more`);
    const path = write(more);
    const applied = await gateway.json('catalogue', 'apply', path, '--prune');
    expect(applied).toEqual({
      changes: [`+ model ${own}/more`, `+ offer ${own}/more at ${own}: $2 in`],
      leftOut: [],
    });
    expect(await inForce()).toHaveLength(1);
  });

  it('unprices an offer that the file gives no price any more', async () => {
    await apply(yaml());
    expect(await apply(yaml({ price: '' }))).toEqual([
      `~ offer ${own}/model at ${own}: price $2 in → unpriced`,
    ]);
    expect((await inForce())[0]?.price).toBeNull();
    expect(await apply(yaml({ price: '' }))).toEqual([]);
  });

  it('leaves what other files brought alone', async () => {
    await apply(yaml());
    const first = own;
    own = `${own}b`;
    await apply(yaml());
    own = first;
    expect(await inForce()).toHaveLength(1);
  });

  it('stores a credential sealed, and knows it again', async () => {
    await apply(yaml({ credential: '{ value: s3cret-of-ours }' }));
    const { rows } = await db.pool.query('SELECT credential::text FROM provider WHERE id = $1', [own]);
    expect(rows[0].credential).not.toContain('s3cret');
    expect((await inForce())[0]?.provider.credentials[0]?.secret).toBe('s3cret-of-ours');
    expect(await apply(yaml({ credential: '{ value: s3cret-of-ours }' }))).toEqual([]);
    expect(await apply(yaml({ credential: '{ value: another }' }))).toEqual([
      `~ provider ${own}: credential`,
    ]);
  });

  it('changes nothing for a bad file, and names its line', async () => {
    await apply(yaml());
    const bad = yaml({ price: '{ input: "3" }' }).replace('contextTokens: 1000', 'contextTokens: -1');
    const path = write(bad);
    const ran = await gateway.run('catalogue', 'apply', path);
    expect(ran).toMatchObject({ exit: 1, out: '' });
    expect(ran.err).toContain(`${path}:9: models[0].contextTokens: `);
    expect(await prices()).toEqual([{ input: '2000000000' }]);
  });

  it('names the line of an offer at a provider that is nowhere', async () => {
    const text = yaml();
    const path = write(text.slice(text.indexOf('models:')));
    const ran = await gateway.run('catalogue', 'apply', path);
    expect(ran).toMatchObject({
      exit: 1,
      err: expect.stringContaining(`${path}:9: provider "${own}" is neither in the files`),
    });
  });

  it('tells every process once, in the same transaction', async () => {
    const count = async () =>
      Number((await db.pool.query("SELECT count(*) FROM change WHERE kind = 'catalogue'")).rows[0].count);
    const before = await count();
    await apply(yaml());
    await apply(yaml());
    expect(await count()).toBe(before + 1);
  });
});

describe('the audit trail of catalogue apply', () => {
  const trail = async () => {
    const { rows } = await db.pool.query(
      `SELECT actor, subject, before, after FROM audit
       WHERE action = 'catalogue.apply' AND after::text LIKE $1 ORDER BY id`,
      [`%${own}%`],
    );
    return rows;
  };

  it('names what differs, on both sides, and no credential', async () => {
    const value = 'sk-of-the-provider';
    await apply(yaml({ credential: `{ value: ${value} }` }));
    await apply(yaml({ credential: `{ value: ${value}-2 }`, price: '{ input: "3" }' }));
    const [first, second, ...none] = await trail();
    expect(none).toEqual([]);
    const offer = `offer ${own}/model ${own}`;
    expect(first).toMatchObject({
      actor: 'command line',
      subject: 'catalogue',
      before: { [offer]: null },
      after: {
        [`provider ${own}`]: { credential: 'replaced' },
        [`model ${own}/model`]: { name: 'Model' },
      },
    });
    expect(second.before).toMatchObject({
      [`provider ${own}`]: { credential: 'sealed' },
      [offer]: { price: { base: { input: '2000000000' } } },
    });
    expect(second.after).toMatchObject({
      [`provider ${own}`]: { credential: 'replaced' },
      [offer]: { price: { base: { input: '3000000000' } } },
    });
    expect(Object.keys(second.after)).toHaveLength(2);
    expect(JSON.stringify([first, second])).not.toContain(value);
  });

  it('has no row of an apply that changed nothing', async () => {
    await apply(yaml());
    await apply(yaml());
    expect(await trail()).toHaveLength(1);
  });
});

describe('catalogue list', () => {
  it('shows each offer with its price, and why one cannot be used', async () => {
    await apply(yaml({ credential: '{ env: NO_SUCH_KEY }' }));
    const { data: models } = await gateway.json<{ data: { id: string; offers: unknown[] }[] }>(
      'catalogue',
      'list',
    );
    expect(models.find((model) => model.id === `${own}/model`)?.offers).toEqual([
      {
        provider: own,
        providerName: expect.any(String),
        upstreamModel: 'm',
        families: ['chat'],
        price: {
          input: '2',
          output: null,
          text: '$2 in',
          source: null,
          effectiveAt: expect.any(String),
          bands: [
            {
              tier: 'default',
              aboveInputTokens: null,
              rates: [{ class: 'input', variant: null, unit: 'million tokens', usd: '2' }],
            },
          ],
        },
        available: false,
        abilities: {},
        unserved: [],
        why: 'set NO_SUCH_KEY',
      },
    ]);
  });
});
