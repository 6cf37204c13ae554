import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPools, type Pools } from '#lib/gateway/upstream/pools';
import { eventually } from '#tests/support/eventually';

const minute = 60_000;
const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

let server: Server;
let origin = '';
let pools: Pools;
/** All that are open, in the order of their opening. */
let open: Socket[] = [];
let opened = 0;
/** Those that got a request which was not answered yet. */
let asked: Socket[] = [];
/** What the provider does with a new connection. */
let greet: (socket: Socket) => void = () => {};

beforeEach(async () => {
  open = [];
  opened = 0;
  asked = [];
  greet = () => {};
  server = createServer((socket) => {
    open.push(socket);
    opened += 1;
    socket
      .on('error', () => {})
      .on('close', () => {
        open = open.filter((one) => one !== socket);
      });
    socket.on('data', () => asked.push(socket));
    greet(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  pools = createPools();
});
afterEach(async () => {
  vi.useRealTimers();
  await pools.close();
  for (const socket of open) socket.destroy();
  server.close();
});

/** Sends a request; its answer is "ok" once `reply` was called for it. */
async function ask(): Promise<string> {
  const { body } = await pools.for(origin, minute).request({ path: '/', method: 'GET' });
  return body.text();
}

async function reply(): Promise<void> {
  await eventually(() => asked.length > 0, true);
  for (const socket of asked.splice(0)) socket.write(answer);
}

/** A call, after which its connection and the spare one are open. */
async function callOnce(): Promise<void> {
  const call = ask();
  await reply();
  expect(await call).toBe('ok');
  await eventually(() => open.length, 2);
}

/** Moves the clock that spare connections see. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
}

describe('a connection that is opened ahead (contract: routing/pooled-connections)', () => {
  it('is there once an origin was called, and takes the next call that finds no other free', async () => {
    const first = ask();
    await eventually(() => [asked.length, open.length], [1, 2]);
    const spare = open.find((socket) => socket !== asked[0]);
    const second = ask();
    await eventually(() => asked.length, 2);
    expect(asked[1]).toBe(spare);
    await reply();
    expect(await Promise.all([first, second])).toEqual(['ok', 'ok']);
    await eventually(() => open.length, 3);
  });

  it('is replaced before a provider would close it, for five minutes after the last call', async () => {
    stopClock();
    const call = ask();
    await vi.waitUntil(() => asked.length === 1);
    asked.splice(0)[0]?.write(answer);
    expect(await call).toBe('ok');
    await vi.waitUntil(() => open.length === 2);
    for (let replaced = 1; replaced < 20; replaced += 1) {
      vi.advanceTimersByTime(15_000);
      await vi.waitUntil(() => opened === 2 + replaced);
    }
    vi.advanceTimersByTime(15_000);
    // undici's own connection has ended too: it was idle for longer than 30 s.
    await vi.waitUntil(() => open.length <= 1);
    expect(opened).toBe(21);
  });

  it('that its provider closes is not used, and is opened again only if it lived for a while', async () => {
    greet = (socket) => (opened === 2 ? socket.end() : undefined);
    const call = ask();
    await eventually(() => [opened, open.length], [2, 1]);
    await reply();
    expect(await call).toBe('ok');
    const [again, more] = [ask(), ask()];
    await eventually(() => asked.length, 2);
    await reply();
    expect(await Promise.all([again, more])).toEqual(['ok', 'ok']);
  });

  it('on which its provider has spoken is not used', async () => {
    const ours: Socket[] = [];
    const note = (message: unknown) => ours.push((message as { socket: Socket }).socket);
    subscribe('net.client.socket', note);
    greet = (socket) => (opened === 2 ? socket.write('HTTP/1.1 408 Request Timeout\r\n\r\n') : undefined);
    const first = ask();
    await eventually(() => [asked.length, open.length], [1, 2]);
    await eventually(() => ours.some(({ readableLength }) => readableLength > 0), true);
    unsubscribe('net.client.socket', note);
    const spoken = open[1];
    const second = ask();
    await eventually(() => asked.length, 2);
    expect(asked).not.toContain(spoken);
    await reply();
    expect(await Promise.all([first, second])).toEqual(['ok', 'ok']);
  });

  it('ends with the pools', async () => {
    await callOnce();
    await pools.close();
    await eventually(() => open.length, 0);
  });
});
