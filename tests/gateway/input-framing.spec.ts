import { readFileSync } from 'node:fs';
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
import { expectBalancedBooks } from '#tests/support/books';
import { ask, askChat, bearer, codeOf, jsonOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { expectRefusal } from '#tests/support/refusals';
import { type Stack, startStack } from '#tests/support/stack';
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

describe.each(['node', 'web'] as const)('bytes on the wire of the %s lane', (lane) => {
  let stack: Stack;
  let key: string;
  beforeAll(async () => {
    // A small young half of the heap: what the memory test sees is what a call keeps.
    stack = await startStack({ lane, env: { NODE_OPTIONS: '--max-semi-space-size=1' } });
    key = (await stack.key((await stack.workspace({ rpm: 100_000 })).slug)).key;
  });
  afterAll(async () => {
    await expectBalancedBooks(stack).finally(() => stack.close());
    expect(stack.log()).toBe('');
  });

  const chat = (body: string, headers: Record<string, string> = {}) =>
    requestText('POST', path, { ...bearer(key), ...headers }, body);

  /** The process is there and takes new connections. */
  async function expectServing(): Promise<void> {
    expect((await ask(stack.url, 'GET', '/v1/models', bearer(key))).status).toBe(200);
  }

  describe.concurrent('one request', () => {
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
        patienceMs: 5_000,
      });
      expect([answers.length, answers[0]?.whole, headerOf(answers[0] ?? none, 'connection')]).toEqual([
        1,
        true,
        'close',
      ]);
      expect(['fin', 'reset']).toContain(end);
    });
  });

  describe.concurrent('several requests on one connection', () => {
    it('are answered in order when they come at once', async () => {
      const texts = ['one', 'two', 'three'].map((word) => chat(hello(`${word} [[pace/5/5]]`)));
      const models = requestText('GET', '/v1/models', bearer(key));
      const { answers } = await talk(stack.url, Buffer.concat([...texts, models, ...texts]), { answers: 7 });
      expect(answers.map((answer) => answer.status)).toEqual(Array(7).fill(200));
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
      const text = requestText('GET', '/v1/models', bearer(key));
      const { answers } = await talk(stack.url, Buffer.concat(Array(1_000).fill(text)), { answers: 1_000 });
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
        afterwards: (socket) => setTimeout(() => socket.destroy(), 100),
        patienceMs: 400,
      });
      expect(cut.answers).toEqual([]);
      await expectServing();
    });

    it('a body longer than announced is a second request, and none', async () => {
      const body = hello();
      const text = Buffer.concat([chat(body), Buffer.from('{"more":1}')]);
      const { answers } = await talk(stack.url, text, { answers: 2 });
      expect(answers.map((answer) => answer.status)).toEqual([200, 400]);
    });

    it('a client that resets its connection behind a CONNECT ends nothing but itself', async () => {
      const text = Buffer.concat([requestText('CONNECT', 'a:1', {}), Buffer.alloc(5_000, 'x')]);
      for (const waitMs of [0, 1, 5, 50]) await resetAfter(stack.url, text, waitMs);
      await expectServing();
    });

    it('a client that leaves its pipelined requests behind leaves no call running', async () => {
      const own = await stack.key((await stack.workspace({})).slug, { concurrency: 3 });
      const body = hello('[[pace/50/400]]', ',"stream":true');
      const text = requestText('POST', path, bearer(own.key), body);
      await talk(stack.url, Buffer.concat([text, text, text]), {
        leaveWhen: (raw) => raw.includes('data: '),
      });
      await eventually(async () => (await askChat(stack.url, own.key, {})).answer.status, 200);
    });
  });

  describe.concurrent('an unread body', () => {
    it('a caller without a key is answered while it sends, and its connection ends', async () => {
      const big = Buffer.alloc(8 * 1024 * 1024, 'a');
      const { answers } = await talk(
        stack.url,
        Buffer.concat([requestText('POST', path, { 'Content-Length': String(big.length) }), big]),
      );
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

  it('a reader slower than the stream makes the provider wait, not the memory grow', async () => {
    const body = hello('[[pace/0/150000]]', ',"stream":true,"max_tokens":65536,"n":2');
    const pid = stack.gateway().pid;
    // What such a stream costs for good, code and the heap's young half, is there before it is measured.
    await talk(stack.url, chat(body), { patienceMs: 60_000 });
    const before = residentBytes(pid);
    let most = 0;
    const { answers, end } = await talk(stack.url, chat(body), {
      patienceMs: 60_000,
      afterwards: (socket) => {
        socket.pause();
        const watch = setInterval(() => {
          most = Math.max(most, residentBytes(pid));
        }, 50);
        setTimeout(() => {
          clearInterval(watch);
          socket.resume();
        }, 1_500);
      },
    });
    expect(end).toBe('open');
    expect(answers[0]?.whole).toBe(true);
    expect(answers[0]?.body.length).toBeGreaterThan(25_000_000);
    expect((most - before) / 1024 / 1024, 'MiB while the reader slept').toBeLessThan(10);
  });

  it('what was refused here was charged nothing', async () => {
    const { rows } = await stack.db.pool.query('SELECT id FROM call WHERE status >= 400 AND cost_nano <> 0');
    expect(rows).toEqual([]);
    expect(jsonOf(await ask(stack.url, 'GET', '/api/health'))).toEqual({ status: 'ready' });
  });
});

const none = { status: 0, reason: '', headers: [], body: Buffer.alloc(0), whole: false };

/** Memory of a process that is really there, bytes. */
function residentBytes(pid: number | undefined): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) * 1024;
}
