import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuseFraming, refuseTunnel } from '#lib/gateway/framing';
import { nodeLane } from '#lib/gateway/node-lane';
import { unconfiguredRuntime } from '#lib/gateway/unconfigured';
import { makeKey } from '#lib/secrets';
import { askAs } from '#tests/gateway/contract/speaker';
import { speakers } from '#tests/gateway/contract/speakers/index';
import { addedHeaders, droppedHeaders, knownDifferences } from '#tests/gateway/known-differences';
import { brokenBodies, plain, type RawRequest, unversioned } from '#tests/gateway/raw-requests';
import { ask, bearer } from '#tests/support/chat-call';
import { freePort, root, type Stack, startStack } from '#tests/support/stack';
import { requestText, talk, type Wire } from '#tests/support/wire';

const chatPath = '/v1/chat/completions';
const known = knownDifferences.flatMap((difference) => difference.requests);

/** What differs between any two answers: ids, times, and how a connection is framed and kept. */
const volatile = new Set([
  'x-request-id',
  'request-id',
  'x-upstream-request-id',
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
]);

const changed = [...addedHeaders, ...droppedHeaders];

function comparable(answer: Wire | undefined) {
  if (!answer) return null;
  const headers = answer.headers.filter(([name]) => !volatile.has(name) && !changed.includes(name));
  const names = answer.headers
    .map(([name]) => name)
    .filter((name) => name.startsWith('x-') || name.endsWith('-id'));
  const body = answer.body
    .toString()
    .replace(/chatcmpl-[0-9a-f]+|req_[0-9a-f]+|"created":\d+|"created_at":"[^"]+"/g, '…');
  return {
    status: answer.status,
    reason: answer.reason,
    whole: answer.whole,
    headers: headers.sort(),
    names: names.sort(),
    body,
  };
}

async function send(url: string, bytes: string | Buffer): Promise<Wire | undefined> {
  return (await talk(url, bytes, { patienceMs: 5_000 })).answers[0];
}

describe("behind this project's own server both lanes give the same answers", () => {
  let stacks: { node: Stack; web: Stack };
  let keys: { node: string; web: string };
  beforeAll(async () => {
    const [node, web] = [await startStack({ lane: 'node' }), await startStack({ lane: 'web' })];
    const keyOf = async (stack: Stack) =>
      (await stack.key((await stack.workspace({})).slug, { maxOutputTokens: 1000 })).key;
    stacks = { node, web };
    keys = { node: await keyOf(node), web: await keyOf(web) };
  });
  afterAll(async () => {
    await Promise.all([stacks.node.close(), stacks.web.close()]);
  });

  async function expectSame(make: (key: string) => string | Buffer): Promise<void> {
    const [node, web] = await Promise.all([
      send(stacks.node.url, make(keys.node)),
      send(stacks.web.url, make(keys.web)),
    ]);
    expect(comparable(web)).toEqual(comparable(node));
    expect(node).toBeDefined();
  }

  it.each([...plain, ...unversioned, ...brokenBodies, ...known])('$name', ({ text }: RawRequest) =>
    expectSame((key) => Buffer.from(text.replace('KEY', key), 'latin1')),
  );

  const body = (directive: string, more = '') =>
    `{"model":"sandbox/echo","messages":[{"role":"user","content":"Hello ${directive}"}]${more}}`;
  it.each([
    ['an answer', body('')],
    ['a stream', body('', ',"stream":true')],
    ['a stream with its usage', body('', ',"stream":true,"stream_options":{"include_usage":true}')],
    ['a stream that breaks', body('[[fault/cut@3]]', ',"stream":true')],
    ['an answer that breaks', body('[[fault/cut]]')],
    ['no answer', body('[[fault/close-before-headers]]')],
    ["a provider's error", body('[[fault/status-404]]')],
    ["a provider's redirect", body('[[fault/redirect]]')],
    ["a provider's limit", body('[[fault/status-429?retry_after=2]]')],
    ['a body that is none', '{'],
    ['a model that is none', body('').replace('echo', 'none')],
    ['a budget over the policy', body('', ',"max_tokens":1001')],
  ])('%s', (_name, text) => expectSame((key) => requestText('POST', chatPath, bearer(key), text)));

  describe.each(speakers)('of $name', (speaker) => {
    it.each([
      ['an answer', 'echo?tokens=5'],
      ['an answer that breaks', 'fault/cut@3'],
      ['no answer', 'fault/close-before-headers'],
      ["a provider's error", 'fault/status-404'],
      ["a provider's redirect", 'fault/redirect'],
    ])('%s has the same head', async (_name, directive) => {
      const [node, web] = await Promise.all([
        askAs(speaker, stacks.node.url, keys.node, { directive }),
        askAs(speaker, stacks.web.url, keys.web, { directive }),
      ]);
      // Each provider's own ids stand in the bodies; the contract compares those with what was sent.
      const head = ({ answer }: typeof node) => ({ ...comparable(answer), body: answer.body.length > 0 });
      expect(head(web)).toEqual(head(node));
    });
  });
});

describe('a host that runs only Next differs where the list says so, and nowhere else', () => {
  let host: ChildProcess;
  let hostUrl: string;
  let server: Server;
  let serverUrl: string;
  const key = makeKey();
  beforeAll(async () => {
    const port = await freePort();
    hostUrl = `http://127.0.0.1:${port}`;
    const program = join(root, 'node_modules/next/dist/bin/next');
    host = spawn(process.execPath, [program, 'start', '-p', String(port), '-H', '127.0.0.1'], {
      cwd: root,
      stdio: 'ignore',
      env: { PATH: process.env.PATH, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
    });
    const runtime = unconfiguredRuntime();
    server = createServer(
      { maxHeaderSize: 32 * 1024, requireHostHeader: false, shouldUpgradeCallback: () => false },
      (request, response) => nodeLane(runtime, request, response),
    );
    server.on('checkExpectation', (request, response) => nodeLane(runtime, request, response));
    server.on('clientError', (error, socket) => refuseFraming(runtime, error, socket));
    server.on('connect', (_, socket) => refuseTunnel(runtime, socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    serverUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    for (let tries = 0; tries < 300; tries += 1) {
      const up = await ask(hostUrl, 'GET', '/v1/nothing').catch(() => null);
      if (up?.status === 404) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('the host did not come up');
  });
  afterAll(async () => {
    server.close();
    host.kill('SIGTERM');
    if (host.exitCode === null) await once(host, 'exit');
  });

  async function differs(text: string): Promise<boolean> {
    const bytes = Buffer.from(text.replace('KEY', key), 'latin1');
    const [fast, hosted] = await Promise.all([send(serverUrl, bytes), send(hostUrl, bytes)]);
    const [one, other] = [comparable(fast), comparable(hosted)];
    return JSON.stringify(one) !== JSON.stringify(other);
  }

  const grouped = knownDifferences.flatMap(({ why, requests }) =>
    requests.map((request) => ({ why, ...request })),
  );
  it.each(grouped)('$why: $name', async ({ text }) => {
    expect(await differs(text)).toBe(true);
  });

  it.each([...plain])('the same: $name', async ({ text }) => {
    expect(await differs(text)).toBe(false);
  });

  it('the list holds no more than what Node and Next answer first', () => {
    expect(knownDifferences).toHaveLength(3);
    expect([addedHeaders, droppedHeaders]).toEqual([['vary'], ['content-length', 'content-encoding']]);
  });
});
