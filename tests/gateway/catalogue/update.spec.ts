import { randomBytes } from 'node:crypto';
import { MockAgent } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptProposals, dismissProposals } from '#lib/control/operations/catalogue/accept';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { updateInTurn } from '#lib/control/operations/catalogue/daily-update';
import { exportCatalogueOperation } from '#lib/control/operations/catalogue/export';
import { listProposals, setDailyUpdate, updateCatalogue } from '#lib/control/operations/catalogue/update';
import { listPrices } from '#lib/control/operations/price/operations';
import { setProvider } from '#lib/control/operations/provider/set';
import { ask } from '#lib/control/operations/run';
import { tableAddresses } from '#lib/control/price-tables/addresses';
import { price } from '#lib/core/metering/price';
import { usageOf } from '#lib/core/metering/usage';
import { readFilePrice } from '#lib/core/schemas/price';
import { createPools } from '#lib/gateway/upstream/pools';
import { idFloor } from '#lib/platform/ids';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import { controlHost, createWorkspace, operate } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { openOwnDatabase } from '#tests/support/postgres/own-database';
import { litellm, modelsDev } from '#tests/unit/control/price-tables/tables';

const db = await openOwnDatabase();
const agent = new MockAgent();
agent.disableNetConnect();
const direct = createPools();
afterAll(async () => {
  await agent.close();
  await direct.close();
});
const operator = { kind: 'operator', name: 'test', address: null } as const;
const host = { ...controlHost(db), pools: { ...direct, untrusted: () => agent } };

const catalogue = `
providers: [{ id: openai, name: OpenAI, families: { chat: "https://api.openai.com/v1" }, credential: none }]
models:
  - { id: openai/large, name: Large, aliases: [openai/big-latest], contextTokens: 1000, maxOutputTokens: 100, input: [text],
      output: [text], offers: [{ provider: openai, upstreamModel: large, families: [chat],
      price: { input: "2", cachedInput: "0.5", output: "8", cacheWrite1h: "4" } }] }
  - { id: openai/small, name: Small, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: openai, upstreamModel: small, families: [chat], price: { input: "1", output: "4" } }] }
`;
const cost = (input: number, output: number, rest: object = {}) => ({ cost: { input, output, ...rest } });
const line = { family: 'big', release_date: '2026-03-01' };
const first = { large: { ...cost(2, 8, { cache_read: 0.5 }), ...line }, small: cost(1, 4) };

const update = (table: object, name = 'table.json') =>
  operate(db, updateCatalogue, { from: { name, text: JSON.stringify(table) } });
const proposals = (given: Record<string, unknown> = {}) => operate(db, listProposals, given);
const accept = (...ids: (string | undefined)[]) =>
  operate(db, acceptProposals, { proposals: ids.map(String) });
const exported = async () => (await operate(db, exportCatalogueOperation, {})).models;
const versions = async (model: string) => (await operate(db, listPrices, { model })).data;

let workspaceId: string;
beforeAll(async () => {
  workspaceId = (await createWorkspace(db, { name: 'Tables' })).id;
  await operate(db, applyCatalogue, { files: [{ name: 'all.yaml', text: catalogue }] });
});

/** A call of the day before yesterday, as settlement writes it. */
async function charge(version: string, input: number, output: number): Promise<void> {
  const atMs = Date.now() - 2 * 86_400_000;
  const usage = usageOf({ input, output });
  const report = { usage, serviceTier: null, nested: [], flags: [] };
  const { costNano, lines } = price(report, readFilePrice({ input: '2', output: '8' }), new Map());
  const rows = lines.map((one) => [one.class, one.quantity, String(one.unitPriceNano)]);
  await db.pool.query(
    `INSERT INTO call (id, at, workspace_id, key_id, family, operation, status, streamed, latency_ms, overhead_ms,
       end_reason, usage_source, flags, usage, lines, attempts, cost_nano, hold_nano, over_hold_nano, price_version_id)
     VALUES ($1, $2, $3, $3, 'chat', 'chat.create', 200, false, 1, 1, 'completed', 'reported', '{}', $4, $5, '[]', $6, 0,
       0, $7)`,
    [
      `${idFloor(atMs).slice(0, 24)}${randomBytes(6).toString('hex')}`,
      ...[
        new Date(atMs),
        workspaceId,
        JSON.stringify(usage),
        JSON.stringify(rows),
        String(costNano),
        version,
      ],
    ],
  );
}

describe('a price table, applied, changed and applied again (contract: control-plane/proposals)', () => {
  it('proposes nothing for what is in force, and names what it does not know', async () => {
    const shown = await update({ ...modelsDev({ ...first, small: { ...cost(1, 4), mood: 'good' } }) });
    expect(shown).toMatchObject({ data: [], total: 0, asked: [], failures: [] });
    expect(shown.tables[0]).toMatchObject({
      id: 'models.dev',
      models: 2,
      readFrom: 'table.json',
      unknown: [{ field: 'mood', models: 1, example: 'small' }],
    });
    expect(
      (await update(litellm({ large: { input_cost_per_token: 2e-6, output_cost_per_token: 8e-6 } }))).data,
    ).toEqual([]);
  });

  it('proposes a changed price with what last week’s calls would have cost, and changes nothing by itself', async () => {
    const before = await exported();
    const [version] = await versions('openai/large');
    await charge(version?.id ?? '', 1_000_000, 500_000);
    await charge(version?.id ?? '', 500_000, 0);
    const shown = await update(
      modelsDev({
        ...first,
        large: { ...cost(3, 8, { cache_read: 0.5 }), ...line },
        fresh: { ...cost(1, 2), ...line, release_date: '2026-06-01' },
      }),
    );
    expect(shown.data).toMatchObject([
      {
        kind: 'price',
        model: 'openai/large',
        before: '$2 in, $8 out, $0.5 cached input, $4 cache write of 1 hour',
        after: '$3 in, $8 out, $0.5 cached input, $4 cache write of 1 hour',
        others: [{ table: 'litellm', says: 'the price in force' }],
        warnings: ['not in the table, so it stays as it is: cacheWrite1h'],
        effect: { calls: 2, charged: '7', preview: '8.5', difference: '1.5' },
      },
      { kind: 'new', model: 'openai/fresh', after: '$1 in, $2 out', effect: null },
    ]);
    expect(await exported()).toEqual(before);
    expect(await versions('openai/large')).toHaveLength(1);
  });

  it('accepts what was shown: a new version of the price, a new model, then the alias of its line', async () => {
    const shown = await proposals();
    const { changes } = await accept(...shown.data.map(({ id }) => id));
    expect(changes).toEqual([
      '+ model openai/fresh',
      '~ offer openai/large at openai: price $2 in, $8 out, $0.5 cached input, $4 cache write of 1 hour → $3 in, $8 out, $0.5 cached input, $4 cache write of 1 hour',
      '+ offer openai/fresh at openai: $1 in, $2 out',
    ]);
    expect((await versions('openai/large')).map(({ text }) => text.slice(0, 5))).toEqual(['$3 in', '$2 in']);
    const next = await proposals({ provider: 'openai' });
    const differing = next.data.filter(({ kind }) => kind === 'price');
    expect(differing).toMatchObject([{ tables: ['litellm'], after: expect.stringContaining('2 in') }]);
    const alias = next.data.find(({ kind }) => kind === 'alias');
    expect(alias).toMatchObject({
      before: 'openai/big-latest is openai/large',
      after: 'openai/big-latest is openai/fresh',
    });
    await accept(alias?.id);
    const aliases = (await exported()).map(({ id, aliases: names }) => [id, names]);
    expect(aliases).toEqual([
      ['openai/fresh', ['openai/big-latest']],
      ['openai/large', []],
      ['openai/small', []],
    ]);
    const { rows } = await db.pool.query(
      `SELECT action, before, after FROM audit WHERE action = 'catalogue.accept' ORDER BY at LIMIT 1`,
    );
    expect(rows[0].after['offer openai/large openai'].price).toBeDefined();
    expect(rows[0].before['model openai/fresh']).toBeNull();
  });

  it('hides what is dismissed until it is another proposal, and shows it again on request', async () => {
    const [one] = (await proposals({ kind: 'price' })).data;
    await operate(db, dismissProposals, { proposals: [one?.id] });
    expect(await proposals({ kind: 'price' })).toMatchObject({ data: [], dismissed: 1 });
    expect((await proposals({ dismissed: true })).data).toMatchObject([{ id: one?.id, dismissed: true }]);
    const cheaper = litellm({ large: { input_cost_per_token: 1e-6, output_cost_per_token: 8e-6 } });
    expect((await update(cheaper)).data.filter(({ kind }) => kind === 'price')).toHaveLength(1);
    await update(litellm({ large: { input_cost_per_token: 2e-6, output_cost_per_token: 8e-6 } }));
    await operate(db, dismissProposals, { proposals: [one?.id], undo: true });
    expect((await proposals({ kind: 'price' })).data).toMatchObject([{ id: one?.id }]);
  });

  it('proposes the last day of an offer, and to withdraw one that is no longer listed', async () => {
    const priced = { input_cost_per_token: 3e-6, output_cost_per_token: 8e-6 };
    await update(litellm({ large: { ...priced, deprecation_date: '2099-01-31' } }));
    const shown = await update(
      modelsDev({ large: { ...cost(3, 8), ...line }, fresh: { ...cost(1, 2), ...line } }),
    );
    expect(shown.data).toMatchObject([
      {
        kind: 'retirement',
        model: 'openai/large',
        after: '2099-01-31',
        effect: { calls: 2, charged: '7' },
      },
      { kind: 'withdrawal', model: 'openai/small', after: 'withdrawn: no longer listed' },
    ]);
    await accept(...shown.data.map(({ id }) => id));
    expect((await exported()).map(({ id, offers }) => [id, offers[0]?.retires])).toEqual([
      ['openai/fresh', undefined],
      ['openai/large', '2099-01-31'],
    ]);
    expect(await proposals()).toMatchObject({ data: [], notProposed: { withdrawn: 0 } });
  });
});

describe('a proposal that is accepted (contract: control-plane/accept-proposals)', () => {
  beforeAll(async () => {
    await update(litellm({ drawing: { mode: 'image_generation', output_cost_per_image: 1 } }));
  });
  const priced = (input: number) =>
    modelsDev({ large: { ...cost(input, 8), ...line }, fresh: { ...cost(1, 2), ...line } });

  it('by two operators at once is applied once, and the other one is told', async () => {
    const [one] = (await update(priced(5))).data;
    const before = (await versions('openai/large')).length;
    const outcomes = await Promise.allSettled([accept(one?.id), accept(one?.id)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(refused.reason.message).toContain('this proposal is no longer current');
    expect(refused.reason.message).toContain('nothing was changed');
    expect(await versions('openai/large')).toHaveLength(before + 1);
  });

  it('after the catalogue or the table has changed is refused, all of it, and shown as it is now', async () => {
    const old = (await update(modelsDev({ ...modelsOf(priced(6)), other: cost(1, 2) }))).data;
    expect(old.map(({ kind }) => kind)).toEqual(['price', 'new']);
    await update(modelsDev({ ...modelsOf(priced(7)), other: cost(1, 2) }));
    const refusal = await refusalOf(accept(...old.map(({ id }) => id)));
    expect(refusal).toContain('1 of these 2 proposals are no longer current');
    expect((await exported()).some(({ id }) => id === 'openai/other')).toBe(false);
    const now = (await proposals()).data;
    expect(now[0]).toMatchObject({
      before: expect.stringContaining('5 in'),
      after: expect.stringContaining('7 in'),
    });
    expect(now[1]?.id).toBe(old[1]?.id);
    expect(await refusalOf(accept('nothing'))).toContain('no longer current');
  });

  it('by a process that dies half-way changes nothing, and can be accepted again', async () => {
    const [one] = (await update(priced(8))).data;
    const before = await versions('openai/large');
    const block = await db.pool.connect();
    try {
      await block.query('BEGIN; LOCK TABLE price_version IN SHARE MODE');
      const accepted = accept(one?.id).then(
        () => 'accepted',
        () => 'lost',
      );
      await eventually(async () => {
        const { rowCount } = await db.pool.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
             AND wait_event_type = 'Lock' AND query ILIKE '%INTO price_version%'`,
        );
        return rowCount;
      }, 1);
      expect(await accepted).toBe('lost');
    } finally {
      await block.query('ROLLBACK');
      block.release();
    }
    expect(await versions('openai/large')).toEqual(before);
    await accept(one?.id);
    expect(await versions('openai/large')).toHaveLength(before.length + 1);
  });
});

const modelsOf = (table: Record<string, { models: Record<string, object> }>) => table.openai?.models ?? {};

describe('the public tables (contract: control-plane/price-tables)', () => {
  const serve = (status: number, text: string) => {
    for (const address of Object.values(tableAddresses)) {
      const { origin, pathname } = new URL(address);
      agent.get(origin).intercept({ path: pathname, method: 'GET' }).reply(status, text);
    }
  };
  const read = (input: object = {}) => ask(host, updateCatalogue, { actor: operator, input });

  it('are both read; a standing yes accepts new models of that provider, if nothing is doubtful', async () => {
    await operate(db, setProvider, { provider: 'openai', acceptNewModels: true });
    const table = modelsDev({
      large: { ...cost(9, 8), ...line },
      fresh: { ...cost(1, 2), ...line },
      plain: cost(1, 3),
      gift: cost(0, 0),
    });
    const { pathname } = new URL(tableAddresses['models.dev']);
    agent.get('https://models.dev').intercept({ path: pathname }).reply(200, JSON.stringify(table));
    const other = new URL(tableAddresses.litellm);
    agent.get(other.origin).intercept({ path: other.pathname }).reply(500, 'no');
    const shown = await read();
    expect(shown.accepted).toEqual(['+ model openai/plain', '+ offer openai/plain at openai: $1 in, $3 out']);
    expect(shown.standing).toEqual(['openai']);
    expect(shown.data.map(({ kind, model }) => [kind, model])).toEqual([
      ['price', 'openai/large'],
      ['new', 'openai/gift'],
    ]);
    expect(shown.failures).toEqual([expect.stringContaining('answered 500')]);
    expect(shown.tables[1]).toMatchObject({
      id: 'litellm',
      failure: expect.stringContaining('answered 500'),
      models: 1,
    });
    await operate(db, setProvider, { provider: 'openai', acceptNewModels: false });
  });

  it.each([
    ['broken', '{"openai":', 'not valid JSON'],
    ['a web page', '<html>', 'is a web page'],
    ['another document', '{"a":1}', 'neither models.dev'],
  ])('that are %s leave what was read, and say why', async (_, text, why) => {
    const before = await proposals();
    serve(200, text);
    const shown = await read();
    expect(shown.failures).toEqual([expect.stringContaining(why), expect.stringContaining(why)]);
    expect(shown.data.map(({ id }) => id)).toEqual(before.data.map(({ id }) => id));
    const refusal = await refusalOf(operate(db, updateCatalogue, { from: { name: 'prices.json', text } }));
    expect(refusal).toContain('from: prices.json ');
    expect(refusal).toContain(why);
  });

  it('are read daily by one of several processes, if that is wanted, and after a failure in an hour', async () => {
    const reports: string[] = [];
    const turn = () => updateInTurn(host, (error) => reports.push(String(error)));
    const dated = (ago: string) =>
      db.pool.query(`UPDATE fleet_duty SET done_at = now() - $1::interval WHERE name = 'price-tables'`, [
        ago,
      ]);
    expect(await turn()).toBe(false);
    await operate(db, setDailyUpdate, { daily: true });
    serve(200, JSON.stringify(modelsDev(first)));
    expect((await Promise.all([turn(), turn(), turn()])).filter(Boolean)).toHaveLength(1);
    expect(reports).toEqual([]);
    await dated('23 hours');
    expect(await turn()).toBe(false);
    await dated('24 hours');
    serve(503, 'no');
    expect(await turn()).toBe(true);
    expect(reports).toEqual([
      expect.stringContaining('answered 503'),
      expect.stringContaining('answered 503'),
    ]);
    const { rows } = await db.pool.query(
      `SELECT extract(epoch FROM now() - done_at)::int / 3600 AS hours FROM fleet_duty WHERE name = 'price-tables'`,
    );
    expect(Math.trunc(rows[0].hours)).toBe(23);
    await operate(db, setDailyUpdate, { daily: false });
    await dated('2 days');
    expect(await turn()).toBe(false);
  });

  it('are not read from a private address', async () => {
    const shown = await ask(controlHost(db), updateCatalogue, {
      actor: operator,
      input: { from: { url: 'https://127.0.0.1/api.json' } },
    });
    expect(shown.failures).toEqual([expect.stringContaining('is not on the public internet')]);
  });
});
