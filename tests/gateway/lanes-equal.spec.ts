import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallDetail } from '#lib/control/operations/call/detail';
import { refuseFraming, refuseTunnel } from '#lib/gateway/flow/framing';
import { nodeLane } from '#lib/gateway/flow/node-lane';
import { unconfiguredRuntime } from '#lib/gateway/flow/unconfigured';
import { makeKey } from '#lib/platform/secrets';
import { askAs, type Speaker } from '#tests/gateway/contract/speaker';
import { speakers } from '#tests/gateway/contract/speakers/index';
import { addedHeaders, droppedHeaders, knownDifferences } from '#tests/gateway/known-differences';
import { brokenBodies, plain, type RawRequest, unversioned } from '#tests/gateway/raw-requests';
import { unrepeated } from '#tests/support/attempts';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import { ask, bearer } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { freePort } from '#tests/support/run/free-port';
import { inherited } from '#tests/support/run/inherited';
import { joinStack } from '#tests/support/shared/join';
import { root, type Stack } from '#tests/support/stack';
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
    .replace(/(chatcmpl-|req_|conv_)[0-9a-f]+|"created":\d+|"created_at":("[^"]+"|\d+)/g, '…');
  return {
    status: answer.status,
    reason: answer.reason,
    whole: answer.whole,
    headers: headers.sort(),
    names: names.sort(),
    body,
  };
}

async function send(url: string, bytes: string | Buffer, patienceMs = 180_000): Promise<Wire | undefined> {
  return (await talk(url, bytes, { patienceMs })).answers[0];
}

describe("behind this project's own server both lanes give the same answers", () => {
  let stacks: { node: Stack; web: Stack };
  let keys: { node: string; web: string };
  /** The lanes' workspaces. */
  let slugs: { node: string; web: string };
  beforeAll(async () => {
    const [node, web] = await Promise.all([joinStack('node'), joinStack('web')]);
    // Other files add models of their own to one lane.
    const all = 'SELECT id FROM model';
    const [here, there] = await Promise.all(
      [node, web].map(async ({ db }) => (await db.pool.query<{ id: string }>(all)).rows.map(({ id }) => id)),
    );
    const models = (here ?? []).filter((id) => there?.includes(id));
    const limits = { rpm: 10_000, tpm: 4_000_000, concurrency: 50 };
    const slugIn = async (stack: Stack) => (await stack.workspace(limits)).slug;
    const keyOf = async (stack: Stack, slug: string) =>
      (await stack.key(slug, { maxOutputTokens: 1000, models })).key;
    stacks = { node, web };
    slugs = { node: await slugIn(node), web: await slugIn(web) };
    keys = { node: await keyOf(node, slugs.node), web: await keyOf(web, slugs.web) };
  });
  afterAll(async () => {
    await Promise.all([closeBalanced(stacks.node), closeBalanced(stacks.web)]);
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

  it.each([
    ['what is stored without a model', 'POST', '/v1/conversations', '{"metadata":{"lane":"either"}}'],
    ['a list of what is stored', 'GET', `${chatPath}?limit=1`, ''],
    ['a list that is not understood', 'GET', `${chatPath}?order=none`, ''],
    ['what is not stored', 'GET', '/v1/conversations/conv_none', ''],
    ['a change of what is not stored', 'POST', `${chatPath}/none`, '{"metadata":{}}'],
  ])('%s', (_name, method, path, text) => expectSame((key) => requestText(method, path, bearer(key), text)));

  /** The same request over both lanes, and what became of it. */
  async function askBoth(speaker: Speaker, wish: Parameters<typeof askAs>[3], leave = false) {
    const ask = async (lane: 'node' | 'web') => {
      const stack = stacks[lane];
      const { id: keyId, key } = await stack.key(slugs[lane], { concurrency: 1 });
      const leaving = speaker.streamed
        ? { leaveWhen: (raw: string) => raw.includes(speaker.piece) }
        : { leaveAfter: stack.sandbox.begun };
      const asked = await askAs(speaker, stack.url, key, wish, leave ? leaving : {});
      // The newest: it was repeated if its connection had been kept and was dropped.
      const seen = (await stack.sandbox.seen(asked.mark)).at(-1);
      const end = await stack.sandbox.ended(seen?.id ?? '');
      // A client that left before the headers does not know the id of its call.
      const find = async () => {
        const text = 'SELECT id FROM call WHERE key_id = $1';
        return (await stack.db.pool.query<{ id: string }>(text, [keyId])).rows;
      };
      await eventually(async () => (await find()).length, 1);
      const id = (await find())[0]?.id ?? '';
      await eventually(async () => (await askAs(speaker, stack.url, key)).answer.status, 200);
      return { ...asked, end, call: await stack.call(id) };
    };
    const [node, web] = await Promise.all([ask('node'), ask('web')]);
    return { node, web };
  }

  /** What the log says of a call, but for ids and times. */
  const logged = ({ call }: { call: CallDetail }) => {
    const { family, operation, status, errorCode, endReason, streamed, usageSource, flags } = call;
    const attempts = unrepeated(call).map((one) => [one.provider, one.model, one.status, one.error]);
    return { family, operation, status, errorCode, endReason, streamed, usageSource, flags, attempts };
  };

  describe.concurrent.each(speakers)('of $name', (speaker) => {
    it.each([
      ['an answer', 'echo?tokens=5'],
      ['an answer that breaks', 'fault/cut@3'],
      ['no answer', 'fault/close-before-headers'],
      ["a provider's error", 'fault/status-404'],
      ["a provider's redirect", 'fault/redirect'],
    ])(
      '%s has the same head, the bytes of the provider, and the same row and charge',
      async (_name, directive) => {
        const { node, web } = await askBoth(speaker, { directive });
        // Each provider's own ids stand in the bodies: each lane's is compared with what was sent to it.
        const head = ({ answer }: typeof node) => ({ ...comparable(answer), body: answer.body.length > 0 });
        expect(head(web)).toEqual(head(node));
        expect(logged(web)).toEqual(logged(node));
        // What is estimated depends on bytes that differ, such as ids.
        const charge = ({ call }: typeof node) =>
          call.usageSource === 'reported' ? call.cost : call.cost === '0';
        expect(charge(web)).toEqual(charge(node));
        if (!web.answer.whole || web.call.errorCode !== null || web.call.endReason !== 'completed') return;
        const sent = Buffer.from(web.end.sent ?? '', 'base64').toString();
        expect(web.answer.body.toString()).toBe(speaker.relayed ? speaker.relayed(sent) : sent);
      },
    );

    it('whose client leaves is ended at the provider, charged and logged in the same way', async () => {
      // Some families have three pieces in all: a busy client must be able to leave between two of them.
      const slow = speaker.streamed ? 'pace/1000/500' : 'fault/slow-first-byte?ms=100000';
      const { node, web } = await askBoth(speaker, { directive: slow }, true);
      expect(web.end.end).toBe('client_gone');
      expect(logged(web)).toEqual(logged(node));
      expect(web.call.endReason).toBe('client_gone');
      expect(await linesOf(stacks.web, web.call.id)).toEqual([-costOf(web.call)]);
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
      env: { ...inherited(), NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
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
    for (let tries = 0; tries < 1_000; tries += 1) {
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

  /** @param patienceMs what a host does not answer at all is a difference too. */
  async function differs(text: string, patienceMs?: number): Promise<boolean> {
    const bytes = Buffer.from(text.replace('KEY', key), 'latin1');
    const [fast, hosted] = await Promise.all([send(serverUrl, bytes), send(hostUrl, bytes, patienceMs)]);
    const [one, other] = [comparable(fast), comparable(hosted)];
    return JSON.stringify(one) !== JSON.stringify(other);
  }

  const grouped = knownDifferences.flatMap(({ why, requests }) =>
    requests.map((request) => ({ why, ...request })),
  );
  it.each(grouped)('$why: $name', async ({ text }) => {
    expect(await differs(text, 3_000)).toBe(true);
  });

  it.each([...plain])('the same: $name', async ({ text }) => {
    expect(await differs(text)).toBe(false);
  });

  it('the list holds no more than what Node and Next answer first', () => {
    expect(knownDifferences).toHaveLength(3);
    expect([addedHeaders, droppedHeaders]).toEqual([['vary'], ['content-length', 'content-encoding']]);
  });
});
