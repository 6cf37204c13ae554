import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStudio, promptOf, type Studio } from '#tests/gateway/videos/stage';
import { closeBalanced } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { type OwnStack, startStack } from '#tests/support/stack';
import { requestText, talk } from '#tests/support/wire';
import { filmBytes } from '#tools/sandbox/content/film';

const MIB = 1024 * 1024;
/** Far more than the sockets between provider and reader can hold. */
const LENGTH = 96 * MIB;

/**
 * A module that at SIGUSR2 collects all garbage and adds a line to `file`: how many bytes are held then. Resident memory
 * would count what the allocator keeps of memory that is free again.
 */
const tellingHeld = (file: string) =>
  `data:text/javascript,${encodeURIComponent(
    `import fs from 'node:fs'; import v8 from 'node:v8'; import vm from 'node:vm';
     v8.setFlagsFromString('--expose-gc'); const gc = vm.runInNewContext('gc');
     process.on('SIGUSR2', () => {
       gc();
       const { heapUsed, external } = process.memoryUsage();
       fs.appendFileSync('${file}', heapUsed + external + '\\n');
     });`,
  ).replaceAll("'", '%27')}`;

const digestOf = (pieces: Iterable<Uint8Array>) => {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
};

describe.each(['node', 'web'] as const)('a reader slower than the answer, over the %s lane', (lane) => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-held-'));
  const file = join(folder, 'held');
  let stack: OwnStack;
  let studio: Studio;
  beforeAll(async () => {
    stack = await startStack({ lane, env: { NODE_OPTIONS: `--import=${tellingHeld(file)}` } });
    studio = await openStudio(stack);
  });
  afterAll(async () => {
    await closeBalanced(stack);
    rmSync(folder, { recursive: true });
  });

  async function film(directive: string): Promise<string> {
    const body = { model: 'sandbox/film', prompt: promptOf(directive), seconds: '4' } as const;
    const { id, status } = await studio.client.videos.create(body);
    expect(status).toBe('completed');
    return id;
  }

  async function download(id: string): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${studio.key}` };
    const [response]: IncomingMessage[] = await once(
      get(`${stack.url}/v1/videos/${id}/content`, { headers, agent: false }),
      'response',
    );
    if (!response) throw new Error('there is no response');
    return response;
  }

  /** Reads to the end; waits for `between` after each so many bytes. */
  async function readSlowly(
    response: IncomingMessage,
    stepBytes: number,
    between: () => Promise<unknown>,
  ): Promise<string> {
    const hash = createHash('sha256');
    let since = 0;
    for await (const chunk of response) {
      hash.update(chunk);
      since += chunk.length;
      if (since < stepBytes) continue;
      since = 0;
      await between();
    }
    return hash.digest('hex');
  }

  const told = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);

  /** Bytes that the gateway holds while nothing is read, once it has had half a second to take what the provider sends. */
  async function heldBytes(): Promise<number> {
    await pause(500);
    let least = Number.POSITIVE_INFINITY;
    // What ends in one collection lets go of more in the next.
    for (let times = 0; times < 3; times++) {
      const before = told().length;
      stack.gateway().kill('SIGUSR2');
      await eventually(() => told().length, before + 1);
      least = Math.min(least, Number(told().at(-1)));
    }
    return least;
  }

  /** Reads a download slowly. @returns how much more the gateway held at most while nothing was read, MiB. */
  async function growthOverDownload(wanted: string): Promise<number> {
    const id = await film(`film?job_ms=0&bytes=${LENGTH}`);
    const before = await heldBytes();
    let most = 0;
    const look = async () => {
      most = Math.max(most, await heldBytes());
    };
    const response = await download(id);
    // Next frames the body itself: see the known differences.
    expect(response.headers['content-length']).toBe(lane === 'node' ? String(LENGTH) : undefined);
    // Nothing is read at first: then the provider must wait, not the gateway collect.
    await look();
    expect(await readSlowly(response, LENGTH / 4, look)).toBe(wanted);
    return (most - before) / MIB;
  }

  it('of a download of 96 MiB gets it whole, and the gateway’s memory does not grow', async () => {
    const wanted = digestOf(filmBytes(0, LENGTH));
    // What a slowly read download costs for good is there before it is measured.
    await readSlowly(await download(await film(`film?job_ms=0&bytes=${LENGTH / 4}`)), MIB, () => pause(10));
    expect(await growthOverDownload(wanted), 'MiB while the reader was slow').toBeLessThan(10);
  });

  it('that leaves its download ends it at the provider, and the books close', async () => {
    const id = await film(`film?job_ms=0&bytes=${LENGTH}`);
    const response = await download(id);
    const callId = String(response.headers['x-request-id']);
    await once(response, 'readable');
    response.destroy();
    const call = await stack.call(callId);
    expect([call.operation, call.endReason, call.cost]).toEqual(['videos.content', 'client_gone', '0']);
    const end = await stack.sandbox.ended(call.attempts[0]?.upstreamRequestId ?? '');
    expect(end.end).toBe('client_gone');
    expect(end.bytesSent).toBeLessThan(LENGTH / 2);
  });

  it('of a download that the provider cuts gets no whole file', async () => {
    const id = await film('film?job_ms=0&bytes=1000000&get=fault/cut@3');
    const response = await download(id);
    await expect(readSlowly(response, LENGTH, () => pause(0))).rejects.toThrow('aborted');
    const call = await stack.call(String(response.headers['x-request-id']));
    expect([call.status, call.endReason]).toEqual([200, 'upstream_error']);
  });

  /** Reads a stream after a pause. @returns by how much the gateway's memory grew in the pause, MiB. */
  async function growthOverStream(): Promise<number> {
    // As many bytes in small events would keep the machine busy with their text.
    const body = chatBody('[[pace/0/3500/fault/long-events]]', ',"stream":true');
    const before = await heldBytes();
    let held = 0;
    const { answers, end } = await talk(stack.url, chat(studio.key, body), {
      afterwards: async (socket) => {
        socket.pause();
        held = await heldBytes();
        socket.resume();
      },
    });
    expect(end).toBe('open');
    expect(answers[0]?.whole).toBe(true);
    expect(answers[0]?.body.length).toBeGreaterThan(25_000_000);
    return (held - before) / MIB;
  }

  it('of a stream makes the provider wait, not the memory grow', async () => {
    // What such a stream costs for good, code and the heap's young half, is there before it is measured.
    const shorter = chatBody('[[pace/0/1000/fault/long-events]]', ',"stream":true');
    await talk(stack.url, chat(studio.key, shorter));
    expect(await growthOverStream(), 'MiB while the reader slept').toBeLessThan(10);
  });
});

const chatBody = (content: string, more = '') =>
  `{"model":"sandbox/free","messages":[{"role":"user","content":"${content}"}]${more}}`;
const chat = (key: string, body: string) =>
  requestText('POST', '/v1/chat/completions', { authorization: `Bearer ${key}` }, body);
