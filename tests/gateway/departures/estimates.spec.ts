import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  chargedShare,
  type Departure,
  depart,
  inTurns,
  leave,
  observe,
  outcomeOf,
  type Way,
  ways,
} from '#tests/gateway/departures/depart';
import { closeBalanced } from '#tests/support/books';
import { setPolicy } from '#tests/support/control/operate';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

/** 200 tokens of hidden reasoning, then 40 of text, 100 a second. */
const paced = 'pace/10/40?reasoning=200';
/** The same at half the speed: what a busy machine adds to a time is little beside it. */
const slow = 'pace/20/40?reasoning=200';
const slowLastsMs = 4_800;
const [streamed, whole] = ways;
if (!streamed || !whole) throw new Error('there are two ways to ask for a chat completion');

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(async () => {
  await closeBalanced(stack);
});

async function own(credit = '100', concurrency?: number) {
  const { slug } = await stack.workspace({ rpm: 10_000, concurrency: 200, credit });
  const { key } = await stack.key(slug, concurrency === undefined ? {} : { concurrency });
  return { slug, key };
}

const within = (holds: readonly Departure[]) => holds.filter((one) => one.chargedNano > one.holdNano);

describe('clients that leave a model which reasons out of sight (contract: money/hidden-reasoning)', () => {
  it('pay, where the provider then stops, what it would bill, on average within a quarter', async () => {
    const { key } = await own();
    const model = 'test/thinks-aborted';
    await inTurns(5, 5, () => observe(stack, key, model, slow));
    const left: Departure[] = [];
    await inTurns(60, 20, async (index) => {
      // Others get whole answers meanwhile: on a busy machine the speed that is observed is that of the same seconds.
      if (index % 3 === 0) return observe(stack, key, model, slow);
      // Spread evenly over the answer, not at its very end.
      const afterMs = 200 + ((index * 997) % 60) * ((slowLastsMs - 800) / 60);
      left.push(
        await depart(stack, key, ways[index % ways.length] as Way, { model, directive: slow, afterMs }),
      );
    });
    // A client that the machine was too busy to let leave in time got its whole answer.
    const gone = left.filter((one) => one.endReason === 'client_gone');
    expect(gone.length).toBeGreaterThanOrEqual(20);
    expect(gone.filter((one) => one.source !== 'estimated')).toEqual([]);
    expect(within(gone)).toEqual([]);
    expect(chargedShare(gone)).toBeGreaterThan(0.75);
    expect(chargedShare(gone)).toBeLessThan(1.25);
  });

  it('pay, where the provider continues, exactly what it reports', async () => {
    const { key } = await own();
    const left = await inTurns(12, 12, (index) =>
      // All long before the end: one that left after it would have its whole answer.
      depart(stack, key, ways[index % ways.length] as Way, {
        model: 'test/thinks-drained',
        directive: slow,
        afterMs: 50 + index * 50,
      }),
    );
    expect(left.filter((one) => one.endReason !== 'client_gone')).toEqual([]);
    expect(left.filter((one) => one.chargedNano !== one.billedNano || one.source !== 'reported')).toEqual([]);
  });

  it('pay no more output than their request allows', async () => {
    const { key } = await own();
    const budget = { max_completion_tokens: 30 };
    const asked = { model: 'test/thinks-fast', directive: 'pace/50/40?reasoning=200', afterMs: 500 };
    await observe(stack, key, 'test/thinks-fast', 'pace/1/10?reasoning=500');
    // At a thousand tokens a second, half a second is more than 30 tokens.
    const left = await depart(stack, key, whole, { ...asked, more: budget });
    expect(left).toMatchObject({ endReason: 'client_gone', outputTokens: 30 });
    expect(within([left])).toEqual([]);
  });

  it('have their hold grow with the estimate, as far as the funds go', async () => {
    const rich = await own();
    const poor = await own('0.03');
    // What comes at once makes the offer look faster than any model: 0.5 s of it exceeds a silent request's hold.
    // More than once: an answer that a busy client is slow to read does not count for the speed.
    const instant = 'echo?tokens=30000&reasoning=30000';
    await inTurns(3, 1, () => observe(stack, rich.key, 'test/thinks-instant', instant));
    const asked = { model: 'test/thinks-instant', directive: slow, afterMs: 500 };
    const [grown, bounded] = await Promise.all([
      depart(stack, rich.key, whole, asked),
      depart(stack, poor.key, whole, asked),
    ]);
    expect(grown.outputTokens).toBeGreaterThan(8_192);
    expect(grown.chargedNano).toBe(grown.holdNano);
    expect(bounded.outputTokens).toBeGreaterThan(8_192);
    expect(bounded.chargedNano).toBe(bounded.holdNano);
    expect(bounded.chargedNano).toBeLessThan(grown.chargedNano);
  });

  // Their time limits end after they have left, however long a busy machine takes for that.
  it.concurrent('pay by estimate where the provider stalls while their answer is read on', async () => {
    const { slug, key } = await own();
    await setPolicy(stack.db, { workspace: slug, policy: { timeouts: { idleMs: 4_000 } } });
    await stack.announce();
    const when = (raw: string) => raw.includes('data: ');
    const stalled = { model: 'test/thinks-drained', directive: 'fault/stall@3', afterMs: 120_000, when };
    const left = await depart(stack, key, streamed, stalled);
    expect(left).toMatchObject({ endReason: 'client_gone', source: 'estimated', status: 200 });
    expect(left.outputTokens).toBeGreaterThan(10);
    expect(within([left])).toEqual([]);
  });

  it.concurrent('pay nothing where the provider fails while their answer is drained', async () => {
    const { slug, key } = await own();
    await setPolicy(stack.db, { workspace: slug, policy: { timeouts: { firstByteWholeMs: 4_000 } } });
    await stack.announce();
    const failing = { model: 'test/thinks-drained', directive: 'fault/stall', afterMs: 50 };
    expect(await depart(stack, key, whole, failing)).toMatchObject({
      status: 499,
      endReason: 'client_gone',
      chargedNano: 0n,
    });
  });
});

describe('an editor that aborts call after call', () => {
  it('is never refused for concurrency, and pays what it caused', async () => {
    // One that is leaving and one that begins; the answers that are read on would need more.
    const { key } = await own('100', 2);
    await observe(stack, key, 'test/thinks-aborted', paced);
    const outcomes: Promise<Departure>[] = [];
    for (let times = 0; times < 24; times += 1) {
      const model = times % 2 === 0 ? 'test/thinks-aborted' : 'test/thinks-drained';
      const mark = await leave(stack, key, streamed, { model, directive: paced, afterMs: 250 });
      outcomes.push(outcomeOf(stack, streamed, mark));
    }
    const left = await Promise.all(outcomes);
    expect(left.filter((one) => one.status === 429)).toEqual([]);
    expect(within(left)).toEqual([]);
    expect(chargedShare(left)).toBeGreaterThan(0.75);
    expect(chargedShare(left)).toBeLessThan(1.25);
  });
});
