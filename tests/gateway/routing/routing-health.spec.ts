import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OfferHealth } from '#lib/gateway/routing/health';
import { addChains, givePolicy, placeIn } from '#tests/gateway/routing/chains';
import { askChat } from '#tests/support/chat-call';
import { type InProcess, startInProcess } from '#tests/support/in-process';
import { type TcpProxy, tcpProxy } from '#tests/support/tcp-proxy';
import { headerOf } from '#tests/support/wire';

let stack: InProcess;
let key = '';
let slug = '';
let hole: TcpProxy;

beforeAll(async () => {
  stack = await startInProcess();
  const sandbox = new URL(stack.sandbox.url);
  hole = await tcpProxy({ host: sandbox.hostname, port: Number(sandbox.port) });
  const limits = { rpm: null, tpm: null, concurrency: null };
  ({ key, workspace: slug } = await stack.key({}, limits));
  await addChains(stack, {
    'probe/fails': ['fault/status-500?times=6', 'echo'],
    'probe/heals': ['fault/status-503?times=5', 'echo'],
    'asked/to-wait': ['fault/status-429?retry_after=60&times=1', 'echo'],
    'asked/without-number': ['fault/status-429?times=1', 'echo'],
    'all/failing': ['fault/status-500', 'fault/status-503'],
    'black/hole': [{ at: `http://127.0.0.1:${hole.port}/v1`, name: 'echo' }, 'echo'],
    'gives/figures': ['echo?tokens=40', 'echo'],
    'stays/cached': ['echo?a=1', 'echo?a=2'],
  });
});
afterAll(async () => {
  await hole.close();
  await stack.close();
});

async function answerer(model: string, fields: object = {}): Promise<string | undefined> {
  const asked = await askChat(stack.url, key, { model, ...fields });
  expect(asked.answer.status).toBe(200);
  return placeIn(headerOf(asked.answer, 'x-answered-provider'));
}

/** How many requests under this name the provider got. */
async function hits(name: string): Promise<number> {
  return (await stack.sandbox.lines({ event: 'end', model: name })).length;
}

/** What the gateway knows of the first offer of a model; null: nothing yet. */
async function healthOf(model: string): Promise<OfferHealth | null> {
  const { rows } = await stack.db.pool.query<{ id: string }>(
    'SELECT id FROM offer WHERE model_id = $1 ORDER BY position LIMIT 1',
    [model],
  );
  return stack.health.list().find((one) => one.offerId === rows[0]?.id) ?? null;
}

/** Until when the gateway has set the first offer of a model aside, ms since the epoch. */
async function openUntil(model: string): Promise<number> {
  return (await healthOf(model))?.openUntilMs ?? 0;
}

/** Lets the time pass that an offer is set aside. */
function until(ms: number): void {
  stack.pass(Math.max(0, ms - stack.now()) / 1000 + 0.005);
}

describe('an offer that answers', () => {
  it('is measured: first bytes of streams and whole answers apart, speed, and what its cache had', async () => {
    const prompt = { messages: [{ role: 'user', content: 'A long prompt. '.repeat(400) }] };
    const asks = { ...prompt, prompt_cache_key: 'figures' };
    await answerer('gives/figures', asks);
    const whole = await healthOf('gives/figures');
    expect(whole?.wholeMs.value).toBeGreaterThan(0);
    expect(whole?.tokensPerSecond.value).toBeGreaterThan(0);
    expect(whole).toMatchObject({ streamFirstByteMs: { value: null }, cachedShare: 0, running: 0 });
    await answerer('gives/figures', { ...asks, stream: true });
    const both = await healthOf('gives/figures');
    expect(both?.streamFirstByteMs.value).toBeGreaterThan(0);
    expect(both?.cachedShare).toBeGreaterThan(0);
  });
});

describe('an offer that fails five times in a row (contract: routing/breaker)', () => {
  // Pauses end when the test says so, however long its calls take.
  beforeAll(() => stack.stopClock());

  it('is tried after all others, then probed by one call of many at once, and stays aside when that fails', async () => {
    for (let call = 1; call <= 5; call += 1) expect(await answerer('probe/fails')).toBe('second');
    const opened = await openUntil('probe/fails');
    expect(opened - stack.now()).toBeGreaterThan(5_000);
    for (let call = 1; call <= 5; call += 1) expect(await answerer('probe/fails')).toBe('second');
    expect(await hits('fault/status-500?times=6')).toBe(5);

    until(opened);
    const batch = await Promise.all(Array.from({ length: 20 }, () => answerer('probe/fails')));
    expect(batch).toEqual(Array(20).fill('second'));
    expect(await hits('fault/status-500?times=6')).toBe(6);
    expect((await openUntil('probe/fails')) - stack.now()).toBeGreaterThan(10_000);
  });

  it('is in service again as soon as one probe succeeds', async () => {
    for (let call = 1; call <= 5; call += 1) expect(await answerer('probe/heals')).toBe('second');
    expect(await answerer('probe/heals')).toBe('second');
    until(await openUntil('probe/heals'));
    expect(await answerer('probe/heals')).toBe('first');
    expect(await openUntil('probe/heals')).toBe(0);
    expect(await answerer('probe/heals')).toBe('first');
  });

  it('with nowhere else to go is tried all the same, and its answer passes', async () => {
    for (let call = 1; call <= 8; call += 1) {
      const { answer } = await askChat(stack.url, key, { model: 'all/failing' });
      expect([500, 503]).toContain(answer.status);
      expect(headerOf(answer, 'x-attempts')).toBe('2');
    }
  });
});

describe('a 429 (contract: routing/provider-retry-after)', () => {
  it('with Retry-After sets the offer aside for just that long', async () => {
    expect(await answerer('asked/to-wait')).toBe('second');
    const opened = await openUntil('asked/to-wait');
    expect(await answerer('asked/to-wait')).toBe('second');
    until(opened);
    expect(await answerer('asked/to-wait')).toBe('first');
  });

  it('without one does not', async () => {
    expect(await answerer('asked/without-number')).toBe('second');
    expect(await answerer('asked/without-number')).toBe('first');
  });
});

describe('a provider that swallows every request (contract: routing/time-limits, routing/breaker)', () => {
  it('under load costs each call its time limit only until the breaker opens, and comes back by itself', async () => {
    expect(await answerer('black/hole')).toBe('first');
    /** Who answered, at which attempt. */
    const load = async (calls: number, workers: number) => {
      const by = new Set<string>();
      let left = calls;
      const work = async () => {
        while (left > 0) {
          left -= 1;
          const { answer } = await askChat(stack.url, key, { model: 'black/hole' });
          const place = placeIn(headerOf(answer, 'x-answered-provider'));
          by.add(`${answer.status} ${place} at ${headerOf(answer, 'x-attempts')}`);
        }
      };
      await Promise.all(Array.from({ length: workers }, work));
      return [...by].sort();
    };

    expect(await load(50, 8)).toEqual(['200 first at 1']);
    hole.freeze();
    // Far longer than an answer takes on a busy machine.
    await givePolicy(stack, slug, { timeouts: { firstByteWholeMs: 5_000 } }, 'black/hole');
    expect(await load(8, 8)).toEqual(['200 second at 2']);
    expect(await openUntil('black/hole')).toBeGreaterThan(stack.now());
    // Not one of them waits for the hole.
    expect(await load(24, 8)).toEqual(['200 second at 1']);

    hole.restore();
    until(await openUntil('black/hole'));
    expect(await answerer('black/hole')).toBe('first');
    expect(await openUntil('black/hole')).toBe(0);
  });
});

describe('a conversation (contract: routing/prompt-cache)', () => {
  it('stays with the provider that holds its prompt cache, where the policy leaves the choice open', async () => {
    const asks = { prompt_cache_key: 'one conversation' };
    await givePolicy(stack, slug, { order: ['second-stays-cached'] }, 'stays/cached');
    expect(await answerer('stays/cached', asks)).toBe('second');
    await givePolicy(stack, slug, {}, 'stays/cached');
    expect(await answerer('stays/cached', asks)).toBe('second');
    expect(await answerer('stays/cached', { prompt_cache_key: 'another one' })).toBe('first');
    expect(await answerer('stays/cached')).toBe('first');
    await givePolicy(stack, slug, { order: ['first-stays-cached'] }, 'stays/cached');
    expect(await answerer('stays/cached', asks)).toBe('first');
  });
});
