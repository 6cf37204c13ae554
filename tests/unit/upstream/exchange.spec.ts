import { gzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Exchange, type ExchangeOptions } from '#lib/gateway/upstream/exchange';
import { failureName } from '#lib/gateway/upstream/pure/classify';
import { Deadlines } from '#lib/platform/deadlines';

const times = { firstByteMs: 1_000, firstWordMs: 5_000, idleMs: 500, totalMs: 20_000 };

let nowMono = 0;

beforeEach(() => {
  vi.useFakeTimers();
  nowMono = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

async function passMs(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    nowMono += 10;
    await vi.advanceTimersByTimeAsync(10);
  }
}

/** An exchange whose provider the test is: pieces with a "w" say something, others do not. */
function opened(options: ExchangeOptions = {}, limits = times) {
  const seen: string[] = [];
  let overs = 0;
  const exchange = new Exchange(limits, {
    deadlines: new Deadlines(() => nowMono),
    observe: () => ({
      data: (chunk) => {
        seen.push(chunk.toString());
        return chunk.includes('w');
      },
      over: () => {
        overs += 1;
      },
    }),
    ...options,
  });
  let failed: string | null = null;
  let ready = false;
  exchange.ready.then(
    () => {
      ready = true;
    },
    (error) => {
      failed = failureName(error);
    },
  );
  const controller: Dispatcher.DispatchController = {
    aborted: false,
    paused: false,
    reason: null,
    abort: () => {},
    pause: () => {},
    resume: () => {},
  };
  exchange.onRequestStart(controller);
  const got: string[] = [];
  return {
    exchange,
    seen,
    overs: () => overs,
    ready: () => ready,
    failed: () => failed,
    got,
    start: (status = 200, headers: Record<string, string> = {}) =>
      exchange.onResponseStart(controller, status, headers),
    data: (text: string | Buffer) => exchange.onResponseData(controller, Buffer.from(text)),
    end: () => exchange.onResponseEnd(),
    break: () => exchange.onResponseError(controller, new Error('reset')),
    read: () =>
      exchange.read({
        data: (chunk) => void got.push(chunk.toString()),
        end: () => void got.push('<end>'),
        fail: (error) => {
          got.push('<fail>');
          failed = failureName(error);
        },
      }),
  };
}

/** Lets a promise run to where it waits. */
async function outcomeOf(promise: Promise<void>) {
  const told = { state: 'waits' };
  promise.then(
    () => {
      told.state = 'enough';
    },
    (error) => {
      told.state = error instanceof Error ? error.message : 'failed';
    },
  );
  await passMs(0);
  await Promise.resolve();
  return told;
}

describe('time limits count what an answer says (contract: routing/time-limits)', () => {
  it('a silent first byte ends the first-byte limit, headers do not', async () => {
    const silent = opened();
    silent.start();
    await passMs(1_020);
    expect(silent.failed()).toBe('first_byte_timeout');
    const pinged = opened();
    pinged.start();
    await passMs(900);
    pinged.data(': ping');
    await passMs(200);
    expect([pinged.ready(), pinged.failed()]).toEqual([true, null]);
  });

  it('the time of the first word counts from the start, and silent pieces do not extend it', async () => {
    const { start, data, read, failed } = opened();
    start();
    data(': ping');
    await passMs(10);
    read();
    while (nowMono < 4_900) {
      data(': ping');
      await passMs(100);
    }
    expect(failed()).toBeNull();
    await passMs(150);
    expect(failed()).toBe('first_word_timeout');
  });

  it('after the first word, only words extend the idle time', async () => {
    const { start, data, read, failed, got } = opened();
    start();
    data('w1');
    await passMs(10);
    read();
    for (let words = 0; words < 30; words += 1) {
      await passMs(400);
      data('w');
    }
    expect([nowMono, failed()]).toEqual([12_010, null]);
    for (let pings = 0; pings < 4; pings += 1) {
      await passMs(100);
      data(': ping');
    }
    expect(failed()).toBeNull();
    await passMs(130);
    expect(failed()).toBe('idle_timeout');
    expect(got.filter((piece) => piece === ': ping')).toHaveLength(4);
  });

  it('words do not extend the total time limit', async () => {
    const { start, data, read, failed } = opened();
    start();
    data('w');
    await passMs(10);
    read();
    while (failed() === null) {
      data('w');
      await passMs(100);
    }
    expect(failed()).toBe('total_timeout');
    expect(nowMono).toBeLessThan(20_200);
  });

  it('every byte counts as a word without an observer, and in answers that are not 2xx', async () => {
    for (const [options, status] of [
      [{ observe: () => null }, 200],
      [{}, 503],
    ] as const) {
      const { exchange, start, data, read, failed } = opened(options);
      start(status);
      data(': ping');
      await passMs(10);
      read();
      for (let pieces = 0; pieces < 20; pieces += 1) {
        await passMs(400);
        data(': ping');
      }
      expect(failed()).toBeNull();
      await passMs(530);
      expect(failed()).toBe('idle_timeout');
      expect(exchange.ended).toBe(false);
    }
  });

  it('no idle limit applies while an answer is paused', async () => {
    const { exchange, start, data, read, failed } = opened();
    start();
    data('w');
    await passMs(10);
    read();
    exchange.pause();
    await passMs(3_000);
    expect(failed()).toBeNull();
    exchange.resume();
    await passMs(530);
    expect(failed()).toBe('idle_timeout');
    expect(exchange.pausedMs).toBe(3_000);
  });
});

describe('the observer of an answer', () => {
  it('the observer sees each piece of a 2xx once before the reader, and its end', async () => {
    const { start, data, end, read, seen, overs, got } = opened();
    start();
    data('a');
    data('w');
    expect([seen, overs()]).toEqual([['a', 'w'], 0]);
    read();
    data('b');
    end();
    expect([seen, overs(), got]).toEqual([['a', 'w', 'b'], 1, ['a', 'w', 'b', '<end>']]);
    const refused = opened();
    refused.start(400);
    refused.data('a');
    refused.end();
    expect([refused.seen, refused.overs()]).toEqual([[], 0]);
  });

  it('the observer sees the end of a broken answer once', async () => {
    const { start, data, break: breakOff, read, overs, got } = opened();
    start();
    data('w');
    breakOff();
    breakOff();
    await passMs(10);
    read();
    expect([overs(), got]).toEqual([1, ['w', '<fail>']]);
  });

  it('the observer sees a compressed answer decoded', async () => {
    vi.useRealTimers();
    const { exchange, start, data, end, seen, overs } = opened();
    start(200, { 'content-encoding': 'gzip' });
    data(gzipSync('w1 w2'));
    end();
    expect((await exchange.peek()).toString()).toBe('w1 w2');
    expect([seen.join(''), overs()]).toEqual(['w1 w2', 1]);
  });
});

describe('keeping the first of an answer (contract: routing/begun)', () => {
  const far = { mostBytes: 100, mostMs: null, until: () => false };

  it('an answer is kept until enough of it is there', async () => {
    const { exchange, start, data, seen } = opened();
    start();
    data('a');
    const kept = await outcomeOf(exchange.keep({ ...far, until: () => seen.includes('w') }));
    data('b');
    await passMs(10);
    expect(kept.state).toBe('waits');
    data('w');
    await passMs(10);
    expect(kept.state).toBe('enough');
    expect((await outcomeOf(exchange.keep({ ...far, until: () => seen.includes('w') }))).state).toBe(
      'enough',
    );
  });

  it('keeping ends when the byte limit is exceeded, not when it is reached', async () => {
    const { exchange, start, data } = opened();
    start();
    data('x'.repeat(60));
    const kept = await outcomeOf(exchange.keep(far));
    data('x'.repeat(40));
    await passMs(10);
    expect(kept.state).toBe('waits');
    data('x');
    await passMs(10);
    expect(kept.state).toBe('enough');
  });

  it('keeping ends after its time limit, and leaves no timer behind', async () => {
    const { exchange, start, data } = opened();
    start();
    data('x');
    const kept = await outcomeOf(exchange.keep({ ...far, mostMs: 300 }));
    await passMs(290);
    expect(kept.state).toBe('waits');
    await passMs(20);
    expect(kept.state).toBe('enough');
    const before = vi.getTimerCount();
    const ended = await outcomeOf(exchange.keep({ ...far, mostMs: 300 }));
    expect(vi.getTimerCount()).toBe(before + 1);
    data('x'.repeat(200));
    await passMs(10);
    expect([ended.state, vi.getTimerCount()]).toEqual(['enough', before]);
  });

  it('keeping ends with the answer', async () => {
    const { exchange, start, data, end } = opened();
    start();
    data('x');
    const kept = await outcomeOf(exchange.keep(far));
    end();
    await passMs(10);
    expect([kept.state, exchange.ended]).toEqual(['enough', true]);
  });

  it('keeping rejects when the answer breaks off or its time runs out first', async () => {
    const broken = opened();
    broken.start();
    broken.data('x');
    const kept = await outcomeOf(broken.exchange.keep(far));
    broken.break();
    await passMs(10);
    expect(kept.state).toBe('reset');
    expect((await outcomeOf(broken.exchange.keep(far))).state).toBe('reset');
    const slow = opened();
    slow.start();
    slow.data('x');
    const waiting = await outcomeOf(slow.exchange.keep(far));
    await passMs(5_020);
    expect(waiting.state).toBe('FIRST_WORD_TIMEOUT');
  });

  it('the reader gets all that was kept, and what follows', async () => {
    const { exchange, start, data, end, read, got } = opened();
    start();
    data('a');
    await exchange.keep({ ...far, until: () => true });
    data('b');
    read();
    data('c');
    end();
    expect(got).toEqual(['a', 'b', 'c', '<end>']);
  });
});
