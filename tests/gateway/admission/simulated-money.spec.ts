import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import { isRefusal } from '#lib/core/errors';
import { postLine } from '#lib/gateway/ledger/post-line';
import { addChains, givePolicy } from '#tests/gateway/routing/chains';
import { maintain, makeWorkspace, requestOf, startNode, stillClock } from '#tests/support/admission';
import { askChat, codeOf, jsonOf } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import { type Stack, startStack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const usd = 1_000_000_000n;

/** A workspace with money of test payments, and of other payments. Models `own/…` are of a provider that is not simulated. */
async function funded(stack: Stack, simulated: bigint, other = 0n, settings: object = {}) {
  const workspace = await stack.workspace({ credit: '0', ...settings });
  const line = { workspaceId: workspace.id, kind: 'top_up', reason: null } as const;
  if (simulated > 0n) {
    await postLine(stack.db.pool, {
      ...line,
      ref: `test ${workspace.id}`,
      amountNano: simulated,
      simulated: true,
    });
  }
  if (other > 0n) await postLine(stack.db.pool, { ...line, ref: `own ${workspace.id}`, amountNano: other });
  const { key } = await stack.key(workspace.slug);
  return { ...workspace, key };
}

async function fundsOf(stack: Stack, id: string) {
  const found = await stack.db.prisma.workspace.findUniqueOrThrow({ where: { id } });
  return { simulated: found.simulatedNano, other: found.balanceNano - found.simulatedNano };
}

const models = { 'own/echo': ['echo'], 'own/broken': ['fault/status-500'] } as const;
const kinds = [
  ['a stream', { stream: true }],
  ['a whole answer', {}],
] as const;

/** A workspace with no ledger behind its balance would not be right. */
const empty = (id: string) =>
  stack.db.pool.query('UPDATE workspace SET balance_nano = 0, simulated_nano = 0 WHERE id = $1', [id]);

/** What the log says the call cost, once the ledger has it. */
const costOf = async (stack: Stack, id: string) =>
  BigInt(Math.round(Number((await stack.call(id)).cost) * 1e9));

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
  await addChains(stack, models);
});
afterAll(async () => {
  const { checks } = await verifyLedger(stack.db);
  expect(checks.filter(({ name, rows }) => name.includes('simulated') && rows.length > 0)).toEqual([]);
  await stack.close();
});

describe.each(kinds)('%s paid with simulated money (contract: money/simulated-money)', (_, fields) => {
  it('comes from the simulated provider, while other providers are asked nothing', async () => {
    const { id, key } = await funded(stack, 5n * usd);
    const own = await askChat(stack.url, key, { model: 'own/echo', ...fields });
    expect(own.answer.status).toBe(402);
    expect(codeOf(own.answer)).toBe('insufficient_balance');
    expect(JSON.stringify(jsonOf(own.answer))).toContain(
      'This balance is simulated money and pays only simulated models; ',
    );
    expect(headerOf(own.answer, 'x-should-retry')).not.toBe('true');
    expect(await stack.sandbox.seen(own.mark)).toEqual([]);
    const simulated = await askChat(stack.url, key, { model: 'sandbox/echo', ...fields });
    expect(simulated.answer.status).toBe(200);
    const cost = await costOf(stack, simulated.id);
    expect(cost).toBeGreaterThan(0n);
    expect(await fundsOf(stack, id)).toEqual({ simulated: 5n * usd - cost, other: 0n });
  });

  it('comes only from the simulated models of a plan if other funds do not cover the others', async () => {
    const { id, slug, key } = await funded(stack, 5n * usd);
    await givePolicy(stack, slug, { fallbackModels: ['sandbox/echo'] }, 'own/echo');
    const asked = await askChat(stack.url, key, { model: 'own/echo', ...fields });
    expect(asked.answer.status).toBe(200);
    expect(headerOf(asked.answer, 'x-answered-provider')).toBe('sandbox');
    expect((await stack.call(asked.id)).attempts.map(({ provider }) => provider)).toEqual(['sandbox']);
    const cost = await costOf(stack, asked.id);
    expect(await fundsOf(stack, id)).toEqual({ simulated: 5n * usd - cost, other: 0n });
  });

  it('leaves a plan as it is if other funds cover it, and pays what its simulated model answers', async () => {
    const { id, slug, key } = await funded(stack, 5n * usd, 5n * usd);
    await givePolicy(stack, slug, { fallbackModels: ['sandbox/echo'] }, 'own/echo');
    await givePolicy(stack, slug, { fallbackModels: ['sandbox/echo'] }, 'own/broken');
    const asked = await askChat(stack.url, key, { model: 'own/echo', ...fields });
    expect(headerOf(asked.answer, 'x-answered-provider')).toContain('own-echo');
    const cost = await costOf(stack, asked.id);
    expect(await fundsOf(stack, id)).toEqual({ simulated: 5n * usd, other: 5n * usd - cost });
    const second = await askChat(stack.url, key, { model: 'own/broken', ...fields });
    expect(headerOf(second.answer, 'x-answered-provider')).toBe('sandbox');
    expect((await stack.call(second.id)).attempts).toHaveLength(2);
    const more = await costOf(stack, second.id);
    expect(await fundsOf(stack, id)).toEqual({ simulated: 5n * usd - more, other: 5n * usd - cost });
  });
});

describe('simulated money beside other funds (contract: money/simulated-money)', () => {
  it('is not counted when a strict workspace asks whether a call fits', async () => {
    const { key } = await funded(stack, 5n * usd, 1_000n, { strict: true });
    const { answer } = await askChat(stack.url, key, { model: 'own/echo', max_tokens: 1_000 });
    expect(answer.status).toBe(402);
    expect(JSON.stringify(jsonOf(answer))).toMatch(
      /has \$0\.000001 left, without simulated money, which pays only simulated models, and this request may cost/,
    );
    expect((await askChat(stack.url, key, { model: 'sandbox/echo', max_tokens: 1_000 })).answer.status).toBe(
      200,
    );
  });

  it('is spent by many calls at once down to nothing, and by none of those that go elsewhere', async () => {
    const { id, key } = await funded(stack, 1_000_000n, 1_000_000n);
    const asked = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        askChat(stack.url, key, { model: at % 2 ? 'sandbox/echo' : 'own/echo', max_tokens: 20 }),
      ),
    );
    const costs = { sandbox: 0n, own: 0n };
    for (const { answer, id: call } of asked) {
      expect([200, 402]).toContain(answer.status);
      if (answer.status !== 200) continue;
      const provider = headerOf(answer, 'x-answered-provider') === 'sandbox' ? 'sandbox' : 'own';
      costs[provider] += await costOf(stack, call);
    }
    const left = 1_000_000n - costs.sandbox;
    expect(await fundsOf(stack, id)).toEqual({
      simulated: left > 0n ? left : 0n,
      other: 1_000_000n - costs.own + (left < 0n ? left : 0n),
    });
  });

  it('is leased: calls at the simulated provider ask the database once, and real ones never use that lease', async () => {
    const node = await startNode(stack.databaseUrl, { clock: stillClock() });
    const snapshot = await makeWorkspace(node.db, { balanceNano: 10n * usd, simulatedNano: 10n * usd });
    const claim = (simulated: boolean) => node.coordinator.claim(requestOf(snapshot, 1_000n, { simulated }));
    expect(await claim(true)).toMatchObject({ funding: 'lease' });
    const before = node.statements();
    for (let count = 0; count < 100; count += 1) expect(claim(true)).toMatchObject({ funding: 'lease' });
    expect(node.statements()).toBe(before);
    const refused = await claim(false);
    expect(isRefusal(refused) && refused.code).toBe('insufficient_balance');
    expect(await claim(true)).toMatchObject({ funding: 'lease' });
    await node.stop();
    await empty(snapshot.workspace.id);
  });

  it('once no simulated call runs, simulated money gives up its lease to money that was added, even while real calls run', async () => {
    let passedMs = 0;
    const still = stillClock();
    const clock = { now: () => still.now() + passedMs, mono: () => still.mono() + passedMs };
    const node = await startNode(stack.databaseUrl, { clock });
    const snapshot = await makeWorkspace(node.db, { balanceNano: 10n * usd, simulatedNano: 10n * usd });
    const ended = async (simulated: boolean) => {
      const claim = await node.coordinator.claim(requestOf(snapshot, 1_000n, { simulated }));
      if (isRefusal(claim)) throw new Error(claim.message);
      node.coordinator.release(claim, { atMs: clock.now(), chargeNano: 0n, tokens: null });
      return claim.funding;
    };
    expect(await ended(true)).toBe('lease');
    await node.db.pool.query('UPDATE workspace SET balance_nano = balance_nano + $2 WHERE id = $1', [
      snapshot.workspace.id,
      `${10n * usd}`,
    ]);
    for (const seconds of [0, 6, 6]) {
      passedMs += seconds * 1_000;
      expect(await ended(false)).toBe('row');
    }
    await maintain(node);
    expect(await ended(false)).toBe('lease');
    expect(await ended(true)).toBe('lease');
    expect(node.errors).toEqual([]);
    await node.stop();
    await empty(snapshot.workspace.id);
  });
});

describe('simulated money on the embedded database (contract: money/simulated-money)', () => {
  it('pays only the simulated provider, also after the process was killed', async () => {
    const own = await startStack({ database: 'embedded' });
    await addChains(own, models);
    const { id, key } = await funded(own, 5n * usd);
    const before = await askChat(own.url, key, { model: 'own/echo' });
    expect(codeOf(before.answer)).toBe('insufficient_balance');
    const first = await askChat(own.url, key, { model: 'sandbox/echo' });
    expect(first.answer.status).toBe(200);
    await own.kill('SIGKILL');
    await own.start();
    const cost = await costOf(own, first.id);
    expect(await fundsOf(own, id)).toEqual({ simulated: 5n * usd - cost, other: 0n });
    const again = await askChat(own.url, key, { model: 'own/echo' });
    expect(codeOf(again.answer)).toBe('insufficient_balance');
    const { checks } = await verifyLedger(own.db);
    expect(checks.filter(({ name, rows }) => name.includes('simulated') && rows.length > 0)).toEqual([]);
    await own.close();
  });
});
