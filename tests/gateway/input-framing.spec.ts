import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  badEscapes,
  badFraming,
  brokenBodies,
  connect,
  nodeAnswers,
  plain,
  type RawRequest,
  rareMethods,
  rewrittenTargets,
} from '#tests/gateway/raw-requests';
import { closeBalanced } from '#tests/support/books';
import { ask, askChat, bearer, codeOf, jsonOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { expectRefusal } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf, requestText, resetAfter, talk } from '#tests/support/wire';

const refusedFraming = [...badFraming, ...brokenBodies];
const requests = [
  ...refusedFraming,
  ...nodeAnswers,
  ...connect,
  ...rareMethods,
  ...badEscapes,
  ...rewrittenTargets,
  ...plain,
];
const path = '/v1/chat/completions';
const hello = (content = 'Hello', more = '') =>
  `{"model":"sandbox/free","messages":[{"role":"user","content":"${content}"}]${more}}`;

let stack: Stack;
let key: string;

/** @param lane the web lane gives the same answers to single requests: see lanes-equal.spec.ts. */
function join(lane: 'node' | 'web'): void {
  beforeAll(async () => {
    stack = await joinStack(lane);
    key = (await stack.key((await stack.workspace({ rpm: 100_000 })).slug)).key;
  });
  afterAll(() => closeBalanced(stack));
}

const chat = (body: string, headers: Record<string, string> = {}) =>
  requestText('POST', path, { ...bearer(key), ...headers }, body);

/** The process is there and takes new connections. */
async function expectServing(): Promise<void> {
  expect((await ask(stack.url, 'GET', '/v1/models', bearer(key))).status).toBe(200);
}

describe('one request', () => {
  join('node');

  describe.concurrent('on the wire (contract: request/malformed-http)', () => {
    it.each(requests)('$name: $code, with an id', async ({ text, code }: RawRequest) => {
      const { answers, end } = await talk(stack.url, Buffer.from(text.replace('KEY', key), 'latin1'));
      const [answer] = answers;
      if (!answer) throw new Error(`no answer: ${end}`);
      if (code === null) {
        expect(answer.status).toBe(200);
        expect(headerOf(answer, 'x-request-id')).toBeDefined();
      } else if (text.startsWith('HEAD')) {
        expect(answer.status).toBe(405);
      } else {
        expectRefusal(answer, code, key);
      }
      await expectServing();
    });

    it.each(refusedFraming)('$name: the connection ends after the answer', async ({ text }) => {
      const { answers, end } = await talk(stack.url, Buffer.from(text.replace('KEY', key), 'latin1'), {
        answers: Number.POSITIVE_INFINITY,
      });
      expect([answers.length, answers[0]?.whole, headerOf(answers[0] ?? none, 'connection')]).toEqual([
        1,
        true,
        'close',
      ]);
      expect(['fin', 'reset']).toContain(end);
    });
  });

  it('a refused request costs nothing', async () => {
    const text = 'SELECT id FROM call WHERE status >= 400 AND cost_nano <> 0 AND workspace_id = ANY($1)';
    const { rows } = await stack.db.pool.query(text, [stack.workspaces]);
    expect(rows).toEqual([]);
    await eventually(async () => jsonOf(await ask(stack.url, 'GET', '/api/health')).status, 'ready');
  });
});

describe.each(['node', 'web'] as const)('over the %s lane', (lane) => {
  join(lane);

  describe.concurrent('several requests on one connection', () => {
    it('are answered in order when they come at once', async () => {
      const texts = ['one', 'two', 'three'].map((word) => chat(hello(`${word} [[pace/5/5]]`)));
      const models = requestText('GET', '/v1/models', bearer(key));
      const { answers } = await talk(stack.url, Buffer.concat([...texts, models, ...texts]), { answers: 7 });
      // What was answered instead says why.
      const others = answers.filter(({ status }) => status !== 200).map(({ body }) => body.toString());
      expect(others).toEqual([]);
      expect(answers).toHaveLength(7);
      const said = answers.map((answer) => answer.body.toString());
      expect(said.map((text) => /"content":"(one|two|three)/.exec(text)?.[1])).toEqual([
        'one',
        'two',
        'three',
        undefined,
        'one',
        'two',
        'three',
      ]);
      expect(new Set(answers.map((answer) => headerOf(answer, 'x-request-id'))).size).toBe(7);
    });

    it('1,000 one after the other', async () => {
      // One model: the whole list a thousand times would keep the machine busy with text.
      const text = requestText('GET', '/v1/models/sandbox/echo', bearer(key));
      const all = Buffer.concat(Array(1_000).fill(text));
      // On a busy machine more than a minute over the web lane.
      const { answers } = await talk(stack.url, all, { answers: 1_000, patienceMs: 200_000 });
      expect(answers.filter((answer) => answer.status === 200 && answer.whole)).toHaveLength(1_000);
    });

    it('nonsense behind a request does not touch its answer', async () => {
      const text = Buffer.concat([
        chat(hello('first [[pace/20/20]]', ',"stream":true')),
        Buffer.from('asdf\r\n\r\n'),
      ]);
      const { answers } = await talk(stack.url, text, { answers: 2 });
      const [first, second] = answers;
      expect([first?.status, first?.whole]).toEqual([200, true]);
      expect(first?.body.toString().endsWith('data: [DONE]\n\n')).toBe(true);
      if (second) expectRefusal(second, 'invalid_body');
      else throw new Error('the nonsense was not refused');
      await expectServing();
    });

    it('a body shorter than announced takes nothing from the next connection', async () => {
      const text = chat(hello(), { 'Content-Length': String(hello().length + 50) });
      const cut = await talk(stack.url, text, {
        afterwards: (socket) => socket.end(),
      });
      expect(cut.answers.filter(({ status }) => status === 200)).toEqual([]);
      await expectServing();
    });

    it('a body longer than announced is a second request, and none', async () => {
      const body = hello();
      const text = Buffer.concat([chat(body), Buffer.from('{"more":1}')]);
      const { answers } = await talk(stack.url, text, { answers: 2 });
      expect(answers.map((answer) => answer.status)).toEqual([200, 400]);
    });

    it('a client that resets its connection after a CONNECT affects nobody else', async () => {
      const text = Buffer.concat([requestText('CONNECT', 'a:1', {}), Buffer.alloc(5_000, 'x')]);
      for (const waitMs of [0, 1, 5, 50]) await resetAfter(stack.url, text, waitMs);
      await expectServing();
    });

    it('a client that abandons its pipelined requests leaves no call running', async () => {
      const own = await stack.key((await stack.workspace({})).slug, { concurrency: 3 });
      const body = hello('[[pace/50/400]]', ',"stream":true');
      const text = requestText('POST', path, bearer(own.key), body);
      await talk(stack.url, Buffer.concat([text, text, text]), {
        leaveWhen: (raw) => raw.includes('data: '),
      });
      await eventually(async () => (await askChat(stack.url, own.key, {})).answer.status, 200);
    });
  });

  describe.concurrent('an unread body (contract: body/not-read-early)', () => {
    it('a caller without a key is answered while it sends, and its connection ends', async () => {
      const big = Buffer.alloc(8 * 1024 * 1024, 'a');
      const text = Buffer.concat([requestText('POST', path, { 'Content-Length': String(big.length) }), big]);
      let { answers } = await talk(stack.url, text);
      // Next closes while bytes are unread: a write that fails then ends a client before it reads its answer.
      for (let tries = 1; lane === 'web' && answers.length === 0 && tries < 10; tries++) {
        ({ answers } = await talk(stack.url, text));
      }
      const [answer] = answers;
      if (!answer) throw new Error('no answer');
      expectRefusal(answer, 'missing_platform_authorization');
      expect(headerOf(answer, 'connection')).toBe('close');
    });

    it('Expect: 100-continue is not encouraged before the key is known', async () => {
      const text = requestText('POST', path, { 'Content-Length': '1000', Expect: '100-continue' });
      const [answer] = (await talk(stack.url, text)).answers;
      expect(answer && codeOf(answer)).toBe('missing_platform_authorization');
    });
  });
});

const none = { status: 0, reason: '', headers: [], body: Buffer.alloc(0), whole: false };
