import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { errorBody, Refused } from '#lib/core/errors';
import { type BodyBudget, createBodyBudget } from '#lib/gateway/flow/body-budget';
import { NodeBody } from '#lib/gateway/flow/node-body';
import type { BodyPace } from '#lib/gateway/flow/upload/pace';
import { WebBody } from '#lib/gateway/flow/web-body';
import { eventually } from '#tests/support/eventually';
import { requestText, talk } from '#tests/support/wire';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const limit = 8 * mebibyte;
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

type Lane = 'node' | 'web';

interface Reading {
  readonly lane: Lane;
  readonly budget?: BodyBudget;
  readonly pace?: Partial<BodyPace>;
  /** Bodies are held from when they were read until this resolves. */
  readonly held?: Promise<void>;
}

/** Reads each body as a lane does, for the key that it names, and answers with its length or the refusal. */
async function reading({ lane, budget = createBodyBudget(64 * mebibyte), pace, held }: Reading) {
  const told = { arrived: 0, read: 0, large: [] as boolean[], ended: [] as string[] };
  const paced = { stallMs: 20_000, windowMs: 20_000, windowBytes: 0, ...pace };
  const listener: RequestListener = (incoming, response) => {
    told.arrived += 1;
    const body =
      lane === 'node'
        ? new NodeBody(incoming, budget, paced)
        : new WebBody(requestOf(incoming), budget, paced);
    const say = (said: string) => {
      told.ended.push(said);
      response.end(said);
    };
    const read = async () => {
      told.large.push(await body.large());
      const bytes = await body.read(limit, incoming.url ?? '');
      told.read += 1;
      await held;
      return bytes;
    };
    read()
      .then(
        (bytes) => say(`${bytes.length} ${Buffer.from(bytes).includes('b') ? 'mixed' : 'whole'}`),
        (error: unknown) => say(error instanceof Refused ? errorBody(error.refusal) : String(error)),
      )
      .finally(() => body.release());
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, told };
}

/** The same budget, and the most that one body has been given of it. */
function observe(budget: BodyBudget): { readonly observed: BodyBudget; readonly taken: { bytes: number } } {
  const taken = { bytes: 0 };
  const open: BodyBudget['open'] = (keyId, mostBytes) => {
    const share = budget.open(keyId, mostBytes);
    return {
      grow: (bytes) => {
        const wait = share.grow(bytes);
        if (wait === null) taken.bytes = Math.max(taken.bytes, bytes);
        return wait;
      },
      received: (bytes) => share.received(bytes),
      release: () => share.release(),
    };
  };
  return { observed: { open }, taken };
}

/** As a host's Next makes one of Node's request; the types of a body that streams lag behind. */
function requestOf(incoming: IncomingMessage): Request {
  const length = incoming.headers['content-length'];
  const headers = length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length };
  const init = { method: 'POST', body: Readable.toWeb(incoming), headers, duplex: 'half' };
  return new Request('http://gateway.test', init as RequestInit);
}

/** The start of a request; its body is the caller's. */
const declaring = (bytes: number, key = '/key') => requestText('POST', key, { 'Content-Length': `${bytes}` });
const chunked = (key = '/key') => requestText('POST', key, { 'Transfer-Encoding': 'chunked' });
const chunk = (bytes: number) =>
  Buffer.concat([Buffer.from(`${bytes.toString(16)}\r\n`), Buffer.alloc(bytes, 'a'), Buffer.from('\r\n')]);
const said = async (talking: ReturnType<typeof talk>) => (await talking).answers[0]?.body.toString();

describe.each(['node', 'web'] as const)('a large body over the %s lane', (lane) => {
  it.each([
    ['of 256 KiB is none', 256 * kibibyte, false],
    ['of a byte more is one', 256 * kibibyte + 1, true],
    ['of some MiB is one', 5 * mebibyte, true],
  ])('%s, however its length is told, and is read whole', async (_what, bytes, large) => {
    const { url, told } = await reading({ lane });
    const whole = Buffer.concat([declaring(bytes), Buffer.alloc(bytes, 'a')]);
    expect(await said(talk(url, whole))).toBe(`${bytes} whole`);
    const pieces = [chunk(100_000), chunk(bytes - 100_001), chunk(1), Buffer.from('0\r\n\r\n')];
    expect(await said(talk(url, Buffer.concat([chunked(), ...pieces])))).toBe(`${bytes} whole`);
    expect(told.large).toEqual([large, large]);
  });

  it('over the limit is refused, also while it is read', async () => {
    const { url } = await reading({ lane });
    const much = Array.from({ length: 9 }, () => chunk(mebibyte));
    for (const text of [declaring(limit + 1), Buffer.concat([chunked(), ...much])]) {
      expect(await said(talk(url, text))).toContain('over the limit of 8388608 bytes');
    }
  });

  it('that comes more slowly than it must is refused, and a small one is not', async () => {
    const { url } = await reading({ lane, pace: { windowMs: 300, windowBytes: 30 * kibibyte } });
    const drip = (text: Buffer, end: Buffer) =>
      said(
        talk(url, text, {
          afterwards: (socket) => {
            for (let n = 1; n <= 14; n += 1) setTimeout(() => socket.write('a'.repeat(10)), n * 50);
            setTimeout(() => socket.write(end), 800);
          },
        }),
      );
    const [slow, small] = await Promise.all([
      drip(declaring(mebibyte), Buffer.from('')),
      drip(declaring(141), Buffer.from('a')),
    ]);
    expect(slow).toMatch(/arrived at less than \d+ KiB\/s over 0\.3 s; send large bodies/);
    expect(small).toBe('141 whole');
  });

  it('keeps nothing of the budget by announcing its length, nor when its client leaves', async () => {
    const budget = createBodyBudget(4 * mebibyte);
    const { url, told } = await reading({ lane, budget });
    const seen = Promise.withResolvers<void>();
    const silent = Array.from({ length: 20 }, (_, n) =>
      talk(url, declaring(mebibyte, `/slow${n}`), { leaveAfter: seen.promise }),
    );
    await eventually(async () => told.arrived, 20);
    const whole = Buffer.concat([declaring(mebibyte), Buffer.alloc(mebibyte, 'a')]);
    expect(await said(talk(url, whole))).toBe(`${mebibyte} whole`);
    seen.resolve();
    await Promise.all(silent);
    await eventually(async () => told.ended.filter((one) => one.includes('ended early')).length, 20);
    expect(await said(talk(url, whole))).toBe(`${mebibyte} whole`);
  });

  it('waits for others of its key, without stalling by that, while another key is served', async () => {
    const budget = createBodyBudget(16 * mebibyte, 'memory', 20_000);
    const release = Promise.withResolvers<void>();
    const bytes = 3 * mebibyte;
    const { observed, taken } = observe(budget);
    // On one of two servers with one budget a body that pauses is soon refused.
    const patient = await reading({ lane, budget: observed });
    const { url, told } = await reading({ lane, budget, pace: { stallMs: 4_000 } });
    const first = talk(patient.url, Buffer.concat([declaring(bytes), Buffer.alloc(bytes - 1, 'a')]), {
      afterwards: (socket) => {
        void release.promise.then(() => socket.write('a'));
      },
    });
    // What the first has of the quarter that a key may take leaves too little for the second.
    await eventually(() => taken.bytes > mebibyte, true);
    const second = talk(url, Buffer.concat([declaring(bytes), Buffer.alloc(bytes, 'a')]));
    await eventually(async () => told.arrived, 1);
    const other = await said(
      talk(patient.url, Buffer.concat([declaring(bytes, '/other'), Buffer.alloc(bytes, 'a')])),
    );
    expect(other).toBe(`${bytes} whole`);
    // One that came later and sends nothing has stalled: the second has waited longer.
    await said(talk(url, declaring(1_000, '/silent')));
    expect(told.ended).toEqual([expect.stringContaining('stalled for 4 s')]);
    release.resolve();
    expect(await said(first)).toBe(`${bytes} whole`);
    expect(await said(second)).toBe(`${bytes} whole`);
  });

  it('that waited too long for room is refused, and all is given back', async () => {
    const budget = createBodyBudget(4 * mebibyte, 'memory', 150);
    const release = Promise.withResolvers<void>();
    const { url, told } = await reading({ lane, budget, held: release.promise });
    const bytes = 3 * mebibyte;
    const whole = (key: string) => Buffer.concat([declaring(bytes, key), Buffer.alloc(bytes, 'a')]);
    const holder = talk(url, whole('/one'));
    await eventually(async () => told.read, 1);
    expect(JSON.parse((await said(talk(url, whole('/two')))) ?? '')).toMatchObject({
      error: { code: 'local_quota_not_configured', message: expect.stringContaining('no memory left') },
    });
    release.resolve();
    expect(await said(holder)).toBe(`${bytes} whole`);
    expect(await said(talk(url, whole('/two')))).toBe(`${bytes} whole`);
  });
});
