import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, codeOf, type Told } from '#tests/support/fleet/client';
import { type Second, startSecond } from '#tests/support/fleet/second';
import { startRedis, type TestRedis } from '#tests/support/redis/server';
import { type OwnStack, startStack } from '#tests/support/stack';

describe.each(['Redis', 'PostgreSQL'])('three gateways that share limits in %s', (kind) => {
  let redis: TestRedis | null = null;
  let stack: OwnStack;
  let others: Second[] = [];
  let clients: Client[] = [];
  beforeAll(async () => {
    redis = kind === 'Redis' ? await startRedis() : null;
    // At this level they say when they lose the store.
    stack = await startStack({ env: { LOG_LEVEL: 'warn', ...(redis ? { REDIS_URL: redis.url } : {}) } });
    others = await Promise.all([startSecond(stack), startSecond(stack)]);
    clients = [stack, ...others].map(({ url }) => new Client(url));
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    for (const other of others) await other.close();
    await stack.close();
    await redis?.close();
  });

  const wide = { rpm: null, tpm: null, concurrency: null };
  /** A key that each of the three knows already. */
  const keyOf = async (limits: Parameters<OwnStack['key']>[1]) => {
    const { slug } = await stack.workspace({ ...wide, credit: '100' });
    const { key } = await stack.key(slug, { rpm: 3 });
    const { key: limited } = await stack.key(slug, limits);
    await Promise.all(clients.map((client) => client.ask(key)));
    return limited;
  };
  const callAll = (key: string, calls: number, directive: string) =>
    Promise.all(
      Array.from({ length: calls }, (_, at) => clients[at % clients.length]?.ask(key, { directive })),
    ).then((told) => told.filter((one) => one !== undefined));
  const say = (what: string, told: readonly Told[], most: number) => {
    const admitted = told.filter(({ status }) => status === 200).length;
    process.stdout.write(`${kind}, ${what}: ${told.length} calls, ${admitted} admitted, at most ${most}\n`);
    return admitted;
  };

  /** How often one of them has lost the store, and has admitted its share meanwhile. */
  const losses = () =>
    [stack, ...others].flatMap((one) => one.log().split('the store of limits is away').slice(1)).length;
  /**
   * Runs it with the store at hand all the time: on a busy machine it may not answer in time, and what then holds is
   * another promise (contract: limits/store-away).
   * @param withinMs how long it may take.
   */
  const withStore = async <Seen>(
    round: (at: number) => Promise<Seen>,
    withinMs = Number.POSITIVE_INFINITY,
  ): Promise<Seen> => {
    for (let at = 0; at < 20; at++) {
      const before = losses();
      const beganMs = performance.now();
      const seen = await round(at);
      const tookMs = performance.now() - beganMs;
      // What a gateway logged before this answer is read before it.
      for (const { url } of [stack, ...others]) await fetch(`${url}/api/health`);
      if (losses() === before && tookMs < withinMs) return seen;
      // Until all have told what they admitted meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 8_000));
    }
    throw new Error('the store of limits was lost in each of twenty rounds, or each took too long');
  };

  it('1,000 parallel calls on a concurrency of 10 are never more than 10 at once at the provider (contract: limits/concurrency)', async () => {
    const { told, directive } = await withStore(async (at) => {
      const directive = `fault/slow-first-byte?ms=${120 + at}&tokens=3`;
      return { told: await callAll(await keyOf({ concurrency: 10 }), 1_000, directive), directive };
    });
    let running = 0;
    let most = 0;
    const ids = new Set((await stack.sandbox.seen(directive)).map(({ id }) => id));
    for (const line of await stack.sandbox.lines({})) {
      if (!ids.has(line.id)) continue;
      running += line.event === 'begin' ? 1 : -1;
      most = Math.max(most, running);
    }
    const admitted = say('concurrency 10', told, most);
    expect(most).toBeLessThanOrEqual(10);
    expect(admitted).toBeGreaterThanOrEqual(10);
    expect(ids.size).toBe(admitted);
    const refused = told.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(codeOf))).toEqual(new Set(['api_key_concurrency_exceeded']));
  });

  it('a limit of 100 a minute lets 100 of 400 pass (contract: limits/rpm)', async () => {
    const told = await withStore(async () => {
      const key = await keyOf({ rpm: 100 });
      const told: Told[] = [];
      for (let round = 0; round < 8; round++) told.push(...(await callAll(key, 50, 'echo?tokens=3')));
      return told;
      // Within the minute of the limit.
    }, 55_000);
    const admitted = say('100 a minute', told, 100);
    expect(admitted).toBe(100);
    const refused = told.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(codeOf))).toEqual(new Set(['api_key_rpm_exceeded']));
  });
});
