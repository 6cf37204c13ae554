import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { errorBody, Refused } from '#lib/core/errors';
import { createBodyBudget } from '#lib/gateway/flow/body-budget';
import { refuseFraming } from '#lib/gateway/flow/framing';
import type { BodySource } from '#lib/gateway/flow/lane';
import { NodeBody } from '#lib/gateway/flow/node-body';
import { unconfiguredRuntime } from '#lib/gateway/flow/unconfigured';
import type { BodyPace } from '#lib/gateway/flow/upload/pace';
import { WebBody } from '#lib/gateway/flow/web-body';
import { expectRefusal } from '#tests/support/refusals';
import { requestText, talk } from '#tests/support/wire';

const stallMs = 250;
/** For a body that must not be taken for stalled, however busy the machine is. */
const longStallMs = 4_000;
const paceOf = (limitMs: number): BodyPace => ({ stallMs: limitMs, windowMs: 10_000, windowBytes: 0 });
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function serving(listener: RequestListener, options: ServerOptions = {}): Promise<string> {
  const server = createServer(options, listener).listen(0, '127.0.0.1');
  servers.push(server);
  server.on('clientError', (error, socket) => refuseFraming(unconfiguredRuntime(), error, socket));
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

type Lane = 'node' | 'web';
/** At once, or piece by piece, each taken for longer than a client may pause. */
type Way = 'read' | 'pour';

/** Reads each body as a lane does; answers, and tells, how many bytes it had or why it was refused. */
function reading(
  lane: Lane,
  way: Way = 'read',
  told: (said: string) => void = () => {},
  limitMs = stallMs,
): RequestListener {
  return (incoming, response) => {
    const budget = createBodyBudget(1024 ** 2);
    const body: BodySource =
      lane === 'node'
        ? new NodeBody(incoming, budget, paceOf(limitMs))
        : new WebBody(requestOf(incoming), budget, paceOf(limitMs));
    const say = (said: string) => {
      told(said);
      response.end(said);
    };
    const counted = async () => {
      if (way === 'read') return (await body.read(1_000_000, 'key')).length;
      let bytes = 0;
      await body.pour(
        1_000_000,
        async (chunk) => {
          await new Promise((resolve) => setTimeout(resolve, stallMs * 1.2));
          bytes += chunk.length;
        },
        'key',
      );
      return bytes;
    };
    counted().then(
      (bytes) => say(`${bytes}`),
      (error: unknown) => say(error instanceof Refused ? errorBody(error.refusal) : 'fault'),
    );
  };
}

/** As a host's Next makes one of Node's request; the types of a body that streams lag behind. */
function requestOf(incoming: IncomingMessage): Request {
  const init = {
    method: 'POST',
    body: Readable.toWeb(incoming),
    headers: { 'transfer-encoding': 'chunked' },
    duplex: 'half',
  };
  return new Request('http://gateway.test', init as RequestInit);
}

const ways = (['node', 'web'] as const).flatMap((lane) => [[lane, 'read'] as const, [lane, 'pour'] as const]);

describe.concurrent.each(ways)('a body that pauses, as the %s lane %ss it', (lane, way) => {
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const text = requestText('POST', '/', { 'Transfer-Encoding': 'chunked' });

  it('for too long: invalid_body that says so', async () => {
    const url = await serving(reading(lane, way));
    const { answers, ms } = await talk(url, text, { afterwards: (socket) => socket.write(chunk('abc')) });
    expect(JSON.parse(answers[0]?.body.toString() ?? '')).toMatchObject({
      error: { message: expect.stringContaining('stalled'), code: 'invalid_body' },
    });
    expect(ms).toBeGreaterThan(stallMs - 20);
  });

  it('again and again, each time for less than that: it is read', async () => {
    const url = await serving(reading(lane, way, undefined, longStallMs));
    const { answers, ms } = await talk(url, text, {
      afterwards: (socket) => {
        for (let n = 1; n <= 8; n += 1) setTimeout(() => socket.write(chunk('abc')), n * 500);
        setTimeout(() => socket.write('0\r\n\r\n'), 4_500);
      },
    });
    expect(answers[0]?.body.toString()).toBe('24');
    expect(ms).toBeGreaterThan(longStallMs);
  });

  it('and ends early: invalid_body that says so', async () => {
    const refused = Promise.withResolvers<string>();
    const url = await serving(reading(lane, way, refused.resolve));
    await talk(url, text, {
      leaveAfter: refused.promise,
      afterwards: (socket) => socket.write(chunk('abc'), () => socket.destroy()),
    });
    expect(JSON.parse(await refused.promise)).toMatchObject({
      error: { message: expect.stringContaining('ended early'), code: 'invalid_body' },
    });
  });
});

describe('headers that do not come', () => {
  it.each([
    ['stall in the middle', 'GET /v1/models HTTP/1.1\r\nHost: ga'],
    ['drip', 'GET /v1/models HTTP/1.1\r\nHost: ga'],
  ])('%s: invalid_body with an id, and the connection ends', async (name, text) => {
    const url = await serving((_, response) => response.end(), {
      headersTimeout: 300,
      requestTimeout: 0,
      connectionsCheckingInterval: 50,
    });
    let drip: NodeJS.Timeout | undefined;
    const { answers, end } = await talk(url, text, {
      answers: Number.POSITIVE_INFINITY,
      afterwards: (socket) => {
        if (name === 'drip') drip = setInterval(() => socket.write('t'), 60);
      },
    });
    clearInterval(drip);
    const [answer] = answers;
    if (!answer) throw new Error('no answer');
    expectRefusal(answer, 'invalid_body');
    expect(['fin', 'reset']).toContain(end);
  });
});
