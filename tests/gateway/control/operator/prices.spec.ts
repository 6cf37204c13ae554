import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { compareCatalogueOperation } from '#lib/control/operations/catalogue/compare';
import { listPrices, previewPrice } from '#lib/control/operations/price/operations';
import { ask } from '#lib/control/operations/run';
import { price } from '#lib/core/metering/price';
import type { Price } from '#lib/core/metering/price-list';
import { type Usage, usageOf } from '#lib/core/metering/usage';
import { formatUsd } from '#lib/core/money';
import { readFilePrice } from '#lib/core/schemas/price';
import { idFloor } from '#lib/platform/ids';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import { controlHost, createWorkspace } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
const actor = { kind: 'operator', name: 'test', address: null } as const;
const nowMs = Date.now();
const dayMs = 86_400_000;

const file = (given: string, model = 'acme/large', rest = '') => ({
  name: 'acme.yaml',
  text: `providers: [{ id: acme, name: Acme, families: { chat: "https://acme.test/v1" } }]
models:
  - { id: ${model}, name: L, contextTokens: 100000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: acme, upstreamModel: l, families: [chat], price: ${given} }] }
${rest}`,
});
const first = {
  input: '2',
  cachedInput: '0.5',
  output: '8',
  serviceTiers: { flex: { input: '1', output: '4' } },
};
const second = { input: '2.000000001', output: '9', serviceTiers: { flex: { input: '1', output: '3' } } };
const apply = (given: object) =>
  ask(controlHost(db), applyCatalogue, { actor, input: { files: [file(JSON.stringify(given))] } });
const preview = (given: object) =>
  ask(controlHost(db), previewPrice, {
    actor,
    input: { model: 'acme/large', provider: 'acme', price: given },
  });
const compare = (files: object[]) =>
  ask(controlHost(db), compareCatalogueOperation, { actor, input: { files } });
const list = async () =>
  (await ask(controlHost(db), listPrices, { actor, input: { model: 'acme/large' } })).data;

interface Charged {
  readonly usage: Usage;
  readonly tier?: string;
  readonly agoDays?: number;
  readonly version: string;
  readonly costNano?: bigint;
}

let workspaceId: string;
/** A call as settlement writes it. @returns what another price makes of it. */
async function charge({ usage, tier, agoDays = 1, version, costNano }: Charged, own: Price) {
  const costBy = (list: Price) =>
    price({ usage, serviceTier: tier ?? null, nested: [], flags: [] }, list, new Map<string, Price>());
  const cost = costBy(own);
  const atMs = nowMs - agoDays * dayMs;
  const floor = idFloor(atMs);
  const id = `${floor.slice(0, 24)}${randomBytes(6).toString('hex')}`;
  const lines = cost.lines.map((line) => [line.class, line.quantity, String(line.unitPriceNano)]);
  await db.pool.query(
    `INSERT INTO call (id, at, workspace_id, key_id, family, operation, status, streamed, latency_ms, overhead_ms,
       end_reason, usage_source, flags, usage, lines, attempts, cost_nano, hold_nano, over_hold_nano, price_version_id)
     VALUES ($1, $2, $3, $3, 'chat', 'chat.create', 200, false, 1, 1, 'completed', 'reported', '{}', $4, $5, '[]', $6, 0,
       0, $7)`,
    [
      ...[id, new Date(atMs), workspaceId, JSON.stringify(usage), JSON.stringify(lines)],
      ...[String(costNano ?? cost.costNano), version],
    ],
  );
  return { was: cost.costNano, is: costBy(readFilePrice(second)).costNano };
}

beforeAll(async () => {
  workspaceId = (await createWorkspace(db, { name: 'Prices' })).id;
  await apply(first);
});

describe('a price change, tried on last week’s calls (contract: money/price-preview)', () => {
  it('is exact to the nano-dollar, applies tiers, and lists calls that cannot be repriced', async () => {
    const [{ id: version = '' } = {}] = await list();
    const own = readFilePrice(first);
    const calls = [
      { usage: usageOf({ input: 1_001, cachedInput: 77, output: 13 }), version },
      { usage: usageOf({ input: 1, output: 0 }), version, agoDays: 6.9 },
      { usage: usageOf({ input: 999, output: 501 }), tier: 'flex', version },
    ];
    const sums = [];
    for (const call of calls) sums.push(await charge(call, own));
    await charge({ usage: usageOf({ input: 5_000 }), version, agoDays: 7.1 }, own);
    await charge({ usage: usageOf({ input: 5_000 }), version, costNano: 7n }, own);
    await charge({ usage: usageOf({}), version }, own);
    const [was, is] = [
      sums.reduce((sum, one) => sum + one.was, 0n),
      sums.reduce((sum, one) => sum + one.is, 0n),
    ];
    expect(await preview(second)).toMatchObject({
      calls: 3,
      charged: formatUsd(was),
      preview: formatUsd(is),
      difference: formatUsd(is - was),
      unpriced: 1,
      unpricedCharged: '0.000000007',
      complete: true,
      price: expect.stringContaining('9 out'),
    });
    expect(await preview(first)).toMatchObject({ calls: 3, difference: '0' });
  });

  it('goes through thousands of calls, each once', async () => {
    const [{ id: version = '' } = {}] = await list();
    const before = await preview(first);
    await db.pool.query(
      `INSERT INTO call (id, at, workspace_id, key_id, family, operation, status, streamed, latency_ms, overhead_ms,
         end_reason, usage_source, flags, usage, lines, attempts, cost_nano, hold_nano, over_hold_nano, price_version_id)
       SELECT (left($1, 14) || '7' || substr($1, 16, 9) || lpad(to_hex(n), 12, '0'))::uuid, now(), $2, $2, 'chat',
         'chat.create', 200, false, 1, 1, 'completed', 'reported', '{}', '{"input":3}', '[["input",3,"2000000000"]]', '[]',
         6000, 0, 0, $3 FROM generate_series(1, 12000) n`,
      [idFloor(nowMs - 3 * dayMs), workspaceId, version],
    );
    const after = await preview(first);
    expect(after).toMatchObject({ calls: before.calls + 12_000, unpriced: before.unpriced, complete: true });
    expect(Number(after.charged) - Number(before.charged)).toBeCloseTo(0.072, 9);
  });

  it('is refused for an offer that is not there and for a price that a file could not have', async () => {
    const input = { model: 'acme/none', provider: 'acme', price: first };
    expect(await refusalOf(ask(controlHost(db), previewPrice, { actor, input }))).toContain(
      'no offer of "acme/none"',
    );
    expect(await refusalOf(preview({ input: 2 }))).toContain('write the price as a decimal string');
  });
});

describe('catalogue files, compared (contract: operations/catalogue-compare)', () => {
  it('tells what applying them changes, and what their prices would have made of last week', async () => {
    const trail = await db.prisma.audit.count();
    const files = [file(JSON.stringify(second))];
    const { changes, leftOut, prices } = await compare(files);
    expect(changes).toEqual([expect.stringContaining('~ offer acme/large at acme: price $2 in')]);
    expect(leftOut).toEqual([]);
    const { price: _, ...effect } = await preview(second);
    expect(prices).toEqual([
      {
        ...effect,
        to: expect.any(String),
        from: expect.any(String),
        model: 'acme/large',
        provider: 'acme',
        before: expect.stringContaining('2 in'),
        after: expect.stringContaining('2.000000001 in'),
      },
    ]);
    expect(await db.prisma.audit.count()).toBe(trail);
    const applied = await ask(controlHost(db), applyCatalogue, { actor, input: { files } });
    expect(applied.changes).toEqual(changes);
    expect(await compare(files)).toEqual({ changes: [], leftOut: [], prices: [] });
  });

  it('names what files leave out, and the line of a fault', async () => {
    const files = [file('{ input: "1" }', 'acme/other')];
    expect((await compare(files)).leftOut).toEqual(['offer acme/large at acme']);
    expect(await refusalOf(compare([file('{ input: 1 }')]))).toMatch(/acme\.yaml:\d+/);
  });
});

describe('the prices of a model', () => {
  it('are told with the time in which each was in force', async () => {
    const [now, before] = await list();
    expect(now).toMatchObject({ provider: 'acme', until: null, withdrawn: false });
    expect(now?.text).toContain('2.000000001 in');
    expect(before?.until).toBe(now?.effectiveAt);
    expect(before?.bands.map(({ tier }) => tier)).toEqual(['default', 'flex']);
    const input = { model: 'acme/none' };
    expect(await refusalOf(ask(controlHost(db), listPrices, { actor, input }))).toContain(
      'there is no offer',
    );
  });
});
