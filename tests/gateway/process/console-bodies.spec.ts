import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { createBodyGate } from '#lib/process/pages/body-gate';
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

/** Answers with the length of the body; `seen` are the requests that came through the gate. */
async function gated(read: Read, limits?: Parameters<typeof createBodyGate>[1]) {
  const told = { arrived: 0, seen: [] as string[] };
  const gate = createBodyGate(() => 'an-id', limits);
  const server = createServer((request, response) => {
    told.arrived += 1;
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

const inEvents = readers['by its events'] ?? (async () => 0);
const chunked = (path: string) => requestText('POST', path, { 'Transfer-Encoding': 'chunked' });
const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n`;
const first = ({ answers }: { answers: readonly Wire[] }): Wire => {
  const [answer] = answers;
  if (!answer) throw new Error('no answer');
  return answer;
};

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
      'announced as over 1 MiB is refused at once',
      requestText('POST', '/sign-in', { 'Content-Length': `${mebibyte + 1}` }),
    ],
    [
      'that turns out to be over 1 MiB is refused while it comes',
      Buffer.concat([chunked('/sign-in'), Buffer.from(chunk(mebibyte)), Buffer.from(chunk(1))]),
    ],
  ])('%s, and nobody reads a byte of it', async (_what, text) => {
    const { url, told } = await gated(inEvents);
    const talked = await talk(url, text, { answers: Number.POSITIVE_INFINITY });
    expect(first(talked)).toMatchObject({ status: 413, whole: true });
    expect(first(talked).body.toString()).toMatch(/over 1 MiB.*send a smaller one\.\n$/);
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
    const { url, told } = await gated(inEvents);
    const start = requestText(
      'POST',
      '/sign-in',
      { 'Content-Length': `${mebibyte}` },
      'a'.repeat(mebibyte - 1),
    );
    const others = Array.from({ length: 40 }, () => talk(url, start, { patienceMs: 4_000 }));
    await eventually(async () => told.arrived, 40);
    const refused = () =>
      Promise.race([...others.map((one) => one.then(({ answers }) => answers[0]?.status ?? 0))]);
    expect(await refused()).toBe(503);
    const small = await talk(url, requestText('POST', '/sign-in', {}, 'email=a&password=b'));
    expect(first(small).body.toString()).toBe('18');
    const statuses = (await Promise.all(others)).map(({ answers }) => answers[0]?.status ?? 0);
    expect(statuses.filter((status) => status === 503).length).toBeLessThanOrEqual(10);
    const again = await talk(url, requestText('POST', '/sign-in', {}, 'a'.repeat(mebibyte)));
    expect(first(again).status).toBe(200);
  });

  it('is refused although it is small while other small ones take all the memory, and later is not', async () => {
    const { url, told } = await gated(inEvents, { mostBytes: 10 * 60 * 1024 });
    const start = requestText('POST', '/sign-in', { 'Content-Length': '61440' }, 'a'.repeat(61_439));
    const others = Array.from({ length: 11 }, () => talk(url, start, { patienceMs: 2_000 }));
    await eventually(async () => told.arrived, 11);
    const statuses = (await Promise.all(others)).map(({ answers }) => answers[0]?.status ?? 0);
    expect(statuses.filter((status) => status === 503)).toHaveLength(1);
    const again = await talk(url, requestText('POST', '/sign-in', {}, 'email=a&password=b'));
    expect(first(again).status).toBe(200);
  });
});
