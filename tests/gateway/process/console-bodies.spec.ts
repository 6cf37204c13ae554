import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { createBodyGate } from '#lib/programs/process/pages/body-gate';
import { eventually } from '#tests/support/eventually';
import { headerOf, requestText, talk, type Wire } from '#tests/support/wire';

const mebibyte = 1024 * 1024;
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

type Read = (request: IncomingMessage) => Promise<number>;

/** How Next and others read a request. */
const readers: Readonly<Record<string, Read>> = {
  'by its events': (request) =>
    new Promise((resolve) => {
      let bytes = 0;
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      request.on('end', () => resolve(bytes));
    }),
  'in a loop': async (request) => {
    let bytes = 0;
    for await (const chunk of request) bytes += chunk.length;
    return bytes;
  },
  'as the body of a web request': async (request) => {
    if (request.method === 'GET') return 0;
    const init = { method: 'POST', body: Readable.toWeb(request), duplex: 'half' };
    return (await new Request('http://console.test', init as RequestInit).arrayBuffer()).byteLength;
  },
  'through a pipe, later': async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    let bytes = 0;
    for await (const chunk of request.pipe(new PassThrough())) bytes += chunk.length;
    return bytes;
  },
};

interface Told {
  /** The requests that came through the gate. */
  readonly seen: string[];
  /** Of all requests. */
  readonly sockets: Socket[];
  readonly responses: ServerResponse[];
}

/** Answers with the length of the body. */
async function gated(read: Read, limits?: Parameters<typeof createBodyGate>[1]) {
  const told: Told = { seen: [], sockets: [], responses: [] };
  const gate = createBodyGate(() => 'an-id', limits);
  const server = createServer((request, response) => {
    told.sockets.push(request.socket);
    told.responses.push(response);
    gate(request, response, (whole) => {
      told.seen.push(whole.url ?? '');
      expect([whole.method, whole.headers, whole.readableDidRead]).toEqual([
        request.method,
        request.headers,
        false,
      ]);
      void read(whole).then((bytes) => response.end(`${bytes}`));
    });
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, told };
}

/** On a busy machine many bodies at once take their time. */
const unhurried = { longestMs: 180_000 };
const inEvents = readers['by its events'] ?? (async () => 0);
const chunked = (path: string) => requestText('POST', path, { 'Transfer-Encoding': 'chunked' });
const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n`;
const first = ({ answers }: { answers: readonly Wire[] }): Wire => {
  const [answer] = answers;
  if (!answer) throw new Error('no answer');
  return answer;
};

/**
 * Sends the same beginning of a request many times at once; resolves when each of them has been read to its end or was
 * refused. @returns how many were refused with 503, and `leave`, which ends them all.
 */
async function crowd(url: string, { sockets, responses }: Told, start: Buffer, count: number) {
  const left = Promise.withResolvers<void>();
  const talks = Array.from({ length: count }, () => talk(url, start, { leaveAfter: left.promise }));
  const done = () =>
    sockets.filter(({ bytesRead, destroyed }) => destroyed || bytesRead >= start.length).length;
  await eventually(done, count);
  return {
    refused: responses.filter(({ statusCode }) => statusCode === 503).length,
    leave: async () => {
      left.resolve();
      await Promise.all(talks);
      await eventually(() => sockets.every(({ destroyed }) => destroyed), true);
    },
  };
}

describe('the body of a console request', () => {
  it.each(Object.entries(readers))('of up to 1 MiB reads as if it had just come, %s', async (_how, read) => {
    const { url } = await gated(read);
    for (const bytes of [0, 1, 70_000, mebibyte]) {
      const declared = await talk(url, requestText('POST', '/sign-in', {}, 'a'.repeat(bytes)));
      expect(first(declared).body.toString()).toBe(`${bytes}`);
      const pieces =
        bytes === 0 ? '' : chunk(Math.ceil(bytes / 2)) + (bytes > 1 ? chunk(Math.floor(bytes / 2)) : '');
      const inChunks = await talk(
        url,
        Buffer.concat([chunked('/sign-in'), Buffer.from(`${pieces}0\r\n\r\n`)]),
      );
      expect(first(inChunks).body.toString()).toBe(`${bytes}`);
    }
  });

  it('leaves the connection to the next request', async () => {
    const { url } = await gated(inEvents);
    const one = requestText('POST', '/sign-in', {}, 'a'.repeat(100_000));
    const { answers } = await talk(url, Buffer.concat([one, one, requestText('GET', '/')]), { answers: 3 });
    expect(answers.map(({ body }) => body.toString())).toEqual(['100000', '100000', '0']);
  });

  it.each([
    [
      'announced as larger than 1 MiB is refused at once',
      requestText('POST', '/sign-in', { 'Content-Length': `${mebibyte + 1}` }),
    ],
    [
      'that turns out to be larger than 1 MiB is refused while it comes',
      Buffer.concat([chunked('/sign-in'), Buffer.from(chunk(mebibyte)), Buffer.from(chunk(1))]),
    ],
  ])('%s, and nobody reads a byte of it', async (_what, text) => {
    const { url, told } = await gated(inEvents);
    const talked = await talk(url, text, { answers: Number.POSITIVE_INFINITY });
    expect(first(talked)).toMatchObject({ status: 413, whole: true });
    expect(first(talked).body.toString()).toMatch(/larger than 1 MiB.*send a smaller one\.\n$/);
    expect([headerOf(first(talked), 'connection'), talked.end]).toEqual(['close', 'fin']);
    expect(told.seen).toEqual([]);
  });

  it('that does not come in time is refused, in JSON where programs ask, and the connection ends', async () => {
    const { url, told } = await gated(inEvents, { longestMs: 100 });
    const start = requestText('POST', '/api/auth/callback/credentials', { 'Content-Length': '9' }, 'email=');
    const talked = await talk(url, start, { answers: Number.POSITIVE_INFINITY });
    expect(first(talked).status).toBe(408);
    expect(JSON.parse(first(talked).body.toString())).toEqual({
      error: { message: expect.stringContaining('longer than 15 s'), code: 'invalid_body' },
    });
    expect([headerOf(first(talked), 'x-request-id'), talked.end]).toEqual(['an-id', 'fin']);
    expect(told.seen).toEqual([]);
  });

  it('is refused while many others take 32 MiB together, but for a small one', async () => {
    const { url, told } = await gated(inEvents, unhurried);
    const start = requestText(
      'POST',
      '/sign-in',
      { 'Content-Length': `${mebibyte}` },
      'a'.repeat(mebibyte - 1),
    );
    const others = await crowd(url, told, start, 40);
    const small = await talk(url, requestText('POST', '/sign-in', {}, 'email=a&password=b'));
    expect(first(small).body.toString()).toBe('18');
    // 32 of them fit; one that is refused gives back what had come of it.
    expect(others.refused).toBeGreaterThanOrEqual(8);
    expect(others.refused).toBeLessThanOrEqual(10);
    await others.leave();
    const again = await talk(url, requestText('POST', '/sign-in', {}, 'a'.repeat(mebibyte)));
    expect(first(again).status).toBe(200);
  });

  it('is refused although it is small while other small ones take all the memory, and later is not', async () => {
    const { url, told } = await gated(inEvents, { ...unhurried, mostBytes: 10 * 60 * 1024 });
    const start = requestText('POST', '/sign-in', { 'Content-Length': '61440' }, 'a'.repeat(61_439));
    const others = await crowd(url, told, start, 11);
    expect(others.refused).toBe(1);
    await others.leave();
    const again = await talk(url, requestText('POST', '/sign-in', {}, 'email=a&password=b'));
    expect(first(again).status).toBe(200);
  });
});
