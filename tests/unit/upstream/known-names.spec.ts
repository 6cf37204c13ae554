import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { PerformanceObserver } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { createLookup } from '#lib/gateway/upstream/known-names';
import { createPools } from '#lib/gateway/upstream/pools';
import { eventually } from '#tests/support/eventually';

const minuteMs = 60_000;
const first: LookupAddress[] = [
  { address: '2001:db8::1', family: 6 },
  { address: '192.0.2.1', family: 4 },
];
const second: LookupAddress[] = [{ address: '192.0.2.2', family: 4 }];

/** A DNS server that the test answers for, and a clock that it sets. */
function resolver() {
  const open: {
    name: string;
    done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void;
  }[] = [];
  const state = { nowMs: 0, questions: 0 };
  const lookup = createLookup(
    (name, _, done) => {
      state.questions += 1;
      open.push({ name, done });
    },
    () => state.nowMs,
  );
  const find = (name = 'provider.example', all = true) =>
    new Promise<unknown>((settle, fail) => {
      lookup(name, { all }, (error, found, family) => {
        if (error) fail(error);
        else settle(all ? found : [found, family]);
      });
    });
  return {
    state,
    find,
    answer: (found: LookupAddress[]) => {
      for (const { done } of open.splice(0)) done(null, found);
    },
    refuse: () => {
      const error = Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' });
      for (const { done } of open.splice(0)) done(error, []);
    },
  };
}

describe('the names of providers (contract: routing/names)', () => {
  it('are resolved once for 100 connections that are opened at the same time', async () => {
    const { state, find, answer } = resolver();
    const all = Array.from({ length: 100 }, () => find());
    answer(first);
    expect(await Promise.all(all)).toEqual(Array(100).fill(first));
    expect(await find()).toEqual(first);
    expect(state.questions).toBe(1);
  });

  it('keep their addresses each by name', async () => {
    const { find, answer } = resolver();
    const one = find('one.example');
    answer(first);
    await one;
    const two = find('two.example');
    answer(second);
    expect([await two, await find('one.example')]).toEqual([second, first]);
  });

  it('give a single address where only one is asked for', async () => {
    const { find, answer } = resolver();
    const found = find('provider.example', false);
    answer(first);
    expect(await found).toEqual(['2001:db8::1', 6]);
  });

  it('are resolved again after 30 s, without a wait for the connection that finds them old', async () => {
    const { state, find, answer } = resolver();
    const found = find();
    answer(first);
    await found;
    state.nowMs = 29_999;
    await find();
    expect(state.questions).toBe(1);
    state.nowMs = 30_000;
    expect(await find()).toEqual(first);
    expect(state.questions).toBe(2);
    answer(second);
    expect(await find()).toEqual(second);
  });

  it('are waited for after five minutes, and then kept for an hour if DNS fails', async () => {
    const { state, find, answer, refuse } = resolver();
    const found = find();
    answer(first);
    await found;
    for (const age of [5, 59]) {
      state.nowMs = age * minuteMs;
      const late = find();
      expect(await Promise.race([late, 'waits'])).toBe('waits');
      refuse();
      expect(await late).toEqual(first);
    }
    state.nowMs = 60 * minuteMs;
    const gone = find();
    refuse();
    await expect(gone).rejects.toThrow('EAI_AGAIN');
  });

  it('that DNS does not know are asked for again with the next connection', async () => {
    const { find, answer, refuse } = resolver();
    const unknown = [find(), find()];
    refuse();
    for (const one of unknown) await expect(one).rejects.toThrow('EAI_AGAIN');
    const found = find();
    answer(first);
    expect(await found).toEqual(first);
  });

  it('are resolved once by a pool that opens 20 connections to a real server', async () => {
    const server = createServer((_, answer) => setTimeout(() => answer.end('ok'), 50)).listen(0, 'localhost');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    let connections = 0;
    server.on('connection', () => (connections += 1));
    let questions = 0;
    const observer = new PerformanceObserver((list) => {
      questions += list.getEntriesByName('lookup').length;
    });
    observer.observe({ entryTypes: ['dns'] });
    const pools = createPools();
    const ask = async () => {
      const pool = pools.for(`http://localhost:${port}`, minuteMs);
      const { body } = await pool.request({ path: '/', method: 'GET' });
      return body.text();
    };
    expect(await Promise.all(Array.from({ length: 20 }, ask))).toEqual(Array(20).fill('ok'));
    expect(connections).toBeGreaterThanOrEqual(20);
    await eventually(() => questions > 0, true);
    expect(questions).toBe(1);
    observer.disconnect();
    await pools.close();
    server.close();
  });
});
