import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import type { Ask } from '#lib/core/families/family';
import { noClouds } from '#lib/gateway/clouds/access';
import { tryTargets } from '#lib/gateway/flow/attempt/try-targets';
import { CredentialCounts } from '#lib/gateway/limits/credential-limits';
import { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import { createHealth } from '#lib/gateway/routing/breaker';
import type { Health } from '#lib/gateway/routing/health';
import type { Target } from '#lib/gateway/routing/pure/target';
import { createPools, type Pools } from '#lib/gateway/upstream/pools';
import { systemClock } from '#lib/platform/clock';
import { eventually } from '#tests/support/eventually';
import { calledBy } from '#tests/unit/families/make';
import { plannedCall } from '#tests/unit/gateway/make-call';
import { askOf, modelOf, offerAt } from '#tests/unit/routing/make';

/** What a provider does with the n-th request of a connection, from 1. */
type Manner = (socket: Socket, nth: number) => void;

const body = '{"id":"1"}';
const answer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const offerFaults = new OfferFaults(() => {});
const credentialCounts = new CredentialCounts(systemClock, null);

let server: Server;
let origin = '';
let manner: Manner = () => {};
let requests = 0;
/** Those that got a request. */
let connections = 0;
/** Those that have got none yet. */
let silent = 0;
const sockets = new Set<Socket>();
let pools: Pools;
let health: Health;

beforeAll(async () => {
  server = createServer((socket) => {
    silent += 1;
    let nth = 0;
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket);
        if (nth === 0) silent -= 1;
      });
    let text = '';
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0);
      if (head < 0 || text.length < head + 4 + length) return;
      text = '';
      nth += 1;
      requests += 1;
      if (nth === 1) {
        connections += 1;
        silent -= 1;
      }
      manner(socket, nth);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});
beforeEach(async () => {
  await pools?.close();
  pools = createPools();
  health = createHealth();
  requests = 0;
  connections = 0;
  await eventually(() => silent, 0);
});

function targetAt(place: string): Target {
  const offer = offerAt(place);
  if (!offer.price) throw new Error('the offer has a price');
  const address = new URL(`${origin}/v1`);
  const model = modelOf('m', [offer]);
  return { model, offer, family: 'chat', address, ...calledBy('s'), price: offer.price, injectBudget: null };
}

async function call(places: readonly string[] = ['a'], more: Partial<Ask> = {}) {
  const ask = { ...askOf(), shows: false as const, ...more };
  const planned = plannedCall(chat, ask, places.map(targetAt));
  const tried = await tryTargets(
    { clock: systemClock, pools, health, offerFaults, access: noClouds, credentialCounts },
    planned,
    {
      underway: () => {},
    },
  );
  const text = tried.answer ? Buffer.from(await tried.answer.exchange.peek()).toString() : null;
  // The connection is free for the next call only a turn later.
  await new Promise((resolve) => setImmediate(resolve));
  return {
    text,
    attempts: planned.outcome.attempts.map((one) => [
      one.provider,
      one.status,
      one.error,
      one.possibleDuplicate,
    ]),
  };
}

const failuresOf = (place: string) => health.of(`m@${place}`).failures;

describe('a kept connection that its provider closes (contract: routing/pooled-connections)', () => {
  const closings: Readonly<Record<string, Manner>> = {
    'right after an answer': (socket) => socket.end(answer),
    'at the second request, by a FIN': (socket, nth) => (nth === 1 ? socket.write(answer) : socket.end()),
    'at the second request, by a reset': (socket, nth) =>
      nth === 1 ? socket.write(answer) : socket.resetAndDestroy(),
  };

  it.each(Object.entries(closings))('%s, costs no call its answer', async (_, closing) => {
    manner = closing;
    for (let at = 0; at < 40; at += 1) expect((await call()).text).toBe(body);
    expect(failuresOf('a')).toBe(0);
  });

  it('a call on a dropped connection is tried once more on a fresh one, and the attempt is marked', async () => {
    manner = (socket, nth) => (nth === 1 ? socket.write(answer) : socket.end());
    await call();
    expect((await call(['a', 'b'])).attempts).toEqual([
      ['a', null, 'connection_closed', true],
      ['a', 200, null, false],
    ]);
    expect({ requests, connections }).toEqual({ requests: 3, connections: 2 });
  });

  it('a fresh connection that closes too is a failure, and the next target follows', async () => {
    let answered = 0;
    manner = (socket) => {
      answered += 1;
      if (answered === 1) socket.write(answer);
      else socket.end();
    };
    await call();
    expect((await call()).attempts).toEqual([
      ['a', null, 'connection_closed', true],
      ['a', null, 'connection_closed', false],
    ]);
    expect(failuresOf('a')).toBe(1);
  });

  it('a connection that closes after a byte of the answer is a failure', async () => {
    manner = (socket, nth) => (nth === 1 ? socket.write(answer) : socket.end('HTTP/1.1 2'));
    await call();
    expect((await call()).attempts).toEqual([['a', null, 'connection_closed', false]]);
    expect(failuresOf('a')).toBe(1);
  });

  it('a connection that closes a second after the request is a failure: the provider may have worked on it', async () => {
    manner = (socket, nth) => {
      if (nth === 1) socket.write(answer);
      else setTimeout(() => socket.end(), 1_200);
    };
    await call();
    expect((await call()).attempts).toEqual([['a', null, 'connection_closed', false]]);
  });

  it('a dropped connection is a failure if the call creates something that is stored', async () => {
    manner = (socket, nth) => (nth === 1 ? socket.write(answer) : socket.end());
    await call();
    expect((await call(['a'], { job: {} })).attempts).toEqual([['a', null, 'connection_closed', false]]);
    expect(requests).toBe(2);
  });

  it('a connection that was opened ahead counts as kept', async () => {
    const waiting: Socket[] = [];
    manner = (socket) => waiting.push(socket);
    const first = call();
    await eventually(() => [waiting.length, silent], [1, 1]);
    manner = (socket) => (connections === 2 ? socket.end() : socket.write(answer));
    expect((await call()).attempts).toEqual([
      ['a', null, 'connection_closed', true],
      ['a', 200, null, false],
    ]);
    for (const socket of waiting) socket.write(answer);
    expect((await first).text).toBe(body);
  });

  it('a new connection that closes is a failure', async () => {
    manner = (socket) => socket.end();
    expect((await call()).attempts).toEqual([['a', null, 'connection_closed', false]]);
    expect(connections).toBe(1);
  });
});
