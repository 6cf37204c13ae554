import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { catalogueShape } from '#lib/core/schemas/catalogue';
import { contents, ended, post, unchunk } from '#tests/unit/sandbox/socket';
import { getModel } from '#tools/sandbox/models';
import { parseName } from '#tools/sandbox/scenario/name';
import { Scenarios } from '#tools/sandbox/scenario/plan';
import { type Sandbox, startSandbox } from '#tools/sandbox/server';
import { type BeginLine, type EndLine, type TruthLine, TruthLog } from '#tools/sandbox/truth-log';

let sandbox: Sandbox;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  sandbox = await startSandbox({ logFile: join(folder, 'truth', 'log.jsonl') });
});
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

/** The page answers `{ next, lines }` (serve-truth.ts); `wait` makes it answer with the first line. */
async function log<Line extends TruthLine>(query: string): Promise<{ next: number; lines: Line[] }> {
  const response = await fetch(`${sandbox.origin}/_log?wait=60000&${query}`);
  return response.json() as Promise<{ next: number; lines: Line[] }>;
}

test('a finished stream is logged with its true usage and its reported usage', async () => {
  const model = 'echo?tokens=12&mark=finished';
  const wire = await post(
    sandbox.origin,
    { model, stream: true, stream_options: { include_usage: true } },
    ended,
  );
  const [line] = (await log<EndLine>(`event=end&model=${encodeURIComponent(model)}`)).lines;
  expect(line).toMatchObject({
    end: 'completed',
    abortedAt: null,
    status: 200,
    inputTokens: 10,
    outputTokens: 12,
    chunksSent: 12,
    usageReported: { prompt_tokens: 10, completion_tokens: 12 },
  });
  expect(line?.bytesSent).toBe(unchunk(wire.body).length);
});

test('releasing a stalled answer continues only that one', async () => {
  const stalled = (mark: string) =>
    post(sandbox.origin, { model: `pace/1/4/fault/stall@2?mark=${mark}`, stream: true }, ended);
  const [first, second] = [stalled('first'), stalled('second')];
  const release = async (text: string) =>
    (await fetch(`${sandbox.origin}/_release?text=${text}`, { method: 'POST' })).json();
  for (const mark of ['first', 'second']) await log(`event=begin&text=mark=${mark}`);
  expect(await release('mark=first')).toEqual({ released: 1 });
  expect(contents(unchunk((await first).body).toString())).toHaveLength(4);
  // Under way still.
  expect(await release('mark=')).toEqual({ released: 1 });
  expect(contents(unchunk((await second).body).toString())).toHaveLength(4);
});

test('a client that leaves is logged with the tokens generated until then', async () => {
  const model = 'pace/20/500?mark=leaves';
  const wire = await post(
    sandbox.origin,
    { model, stream: true },
    (text) => text.split('"content":').length > 6,
  );
  const [line] = (await log<EndLine>(`event=end&model=${encodeURIComponent(model)}`)).lines;
  const received = contents(unchunk(wire.body).toString()).length;
  expect(line).toMatchObject({ end: 'client_gone', usageReported: null });
  expect(line?.abortedAt).toMatch(/^\d{4}-/);
  expect(line?.outputTokens).toBeGreaterThanOrEqual(received);
  expect(line?.outputTokens).toBeLessThan(500);
});

test('a fault is logged as a fault, with the tokens generated before it', async () => {
  await post(sandbox.origin, { model: 'fault/cut@3?mark=fault', stream: true });
  const [line] = (await log<EndLine>(`event=end&model=${encodeURIComponent('fault/cut@3?mark=fault')}`))
    .lines;
  expect(line).toMatchObject({
    end: 'fault',
    fault: 'cut',
    outputTokens: 3,
    chunksSent: 3,
    usageReported: null,
  });
});

test('a request that did not arrive completely costs nothing', async () => {
  const since = (await log('since=0')).next;
  const { hostname, port } = new URL(sandbox.origin);
  const socket = connect(Number(port), hostname);
  socket.write(
    'POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n',
  );
  await once(socket, 'data');
  socket.destroy();
  const [line] = (await log<EndLine>(`event=end&since=${since}`)).lines;
  expect(line).toMatchObject({ end: 'client_gone', status: null, inputTokens: 0, outputTokens: 0 });
});

test('a request is logged with its bytes and its attempt, and credentials only as a hash', async () => {
  const headers = { authorization: 'Bearer secret', 'x-attempt-id': 'attempt-1' };
  const { next } = await log('since=0');
  await post(sandbox.origin, { model: 'echo', user: 'ü' }, (text) => text.includes('}'), headers);
  const [line] = (await log<BeginLine>(`event=begin&since=${next}`)).lines;
  expect(line?.attemptId).toBe('attempt-1');
  expect(line?.body).toContain('"user":"ü"');
  expect(line?.bodySha256).toBe(
    createHash('sha256')
      .update(line?.body ?? '')
      .digest('hex'),
  );
  const hash = createHash('sha256').update('Bearer secret').digest('hex').slice(0, 16);
  expect(line?.headers.authorization).toBe(`sha256:${hash}`);
});

test.each([
  ['2,000 requests', 2_000, 10],
  ['fewer of large ones', 512, 65_536],
])('bodies are kept only for the last %s', async (_, kept, bytes) => {
  const truth = new TruthLog(null);
  const request = { method: 'POST', path: '/', query: new URLSearchParams(), headers: {}, atMs: 0 };
  const body = Buffer.alloc(bytes, 'x');
  for (let n = 0; n < kept + 5; n += 1) truth.begin({ ...request, id: String(n), body });
  const lines = await truth.read(0, (line) => line.event === 'begin' && line.body !== undefined, 0);
  expect(lines.map(({ id }) => Number(id))).toEqual(Array.from({ length: kept }, (_, at) => at + 5));
});

test('lines are found by request as long as they are kept, and only a matching line ends a wait', async () => {
  const truth = new TruthLog(null);
  const request = { method: 'POST', path: '/', query: new URLSearchParams(), headers: {}, atMs: 0 };
  const begin = (n: number) => truth.begin({ ...request, id: String(n % 10_001), body: Buffer.alloc(0) });
  const waiting = truth.read(8, () => true, 60_000, '7');
  for (let n = 0; n < 20_001; n += 1) begin(n);
  expect((await waiting).map(({ seq }) => seq)).toEqual([10_009]);
  const seqsOf = async (id: string) => (await truth.read(0, () => true, 0, id)).map(({ seq }) => seq);
  // The oldest tenth has left, and with it the first of both lines of a request.
  expect(await seqsOf('7')).toEqual([10_009]);
  expect(await seqsOf('2000')).toEqual([2_001, 12_002]);
  expect(await seqsOf('1999')).toEqual([12_001]);
  expect(await seqsOf('none')).toEqual([]);
});

test('the file has the same lines, without bodies', async () => {
  const { lines } = await log<BeginLine & { sent?: string }>('since=0');
  const file = await readFile(join(folder, 'truth', 'log.jsonl'), 'utf8');
  const kept = file
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(kept).toEqual(lines.map(({ body: _body, sent: _sent, ...line }) => line));
  expect(file).not.toContain('secret');
});

test('every model of the sandbox catalogue exists in the sandbox', async () => {
  const file = catalogueShape.parse(parse(await readFile('catalogue/sandbox.yaml', 'utf8')));
  expect(file.models.length).toBeGreaterThan(20);
  for (const { upstreamModel } of file.models.flatMap((model) => model.offers)) {
    expect(() => getModel(parseName(upstreamModel).base), upstreamModel).not.toThrow();
    expect(() => new Scenarios(0).plan(upstreamModel, undefined), upstreamModel).not.toThrow();
  }
});
