import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callsOf, closeBalanced } from '#tests/support/books';
import { ask, bearer, receivedOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { expectRefusal, expectRefusedRow } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { requestText, talk } from '#tests/support/wire';

const path = '/v1/chat/completions';
const hello = '"messages":[{"role":"user","content":"Hello"}]';
const good = `{"model":"sandbox/echo",${hello}}`;
const mebibyte = 1024 * 1024;

/** Every one of these is 400 invalid_body. */
const bad: readonly (readonly [string, string | Buffer])[] = [
  ['nothing', ''],
  ['white space alone', ' \n\t '],
  ['truncated JSON', good.slice(0, -1)],
  ['truncated inside a string', good.slice(0, -8)],
  ['something after the object', `${good} x`],
  ['two objects', good + good],
  ['a list', `[${good}]`],
  ['a string', '"sandbox/echo"'],
  ['a number', '7'],
  ['null', 'null'],
  ['a trailing comma', `{"model":"sandbox/echo",${hello},}`],
  ['a comment', `{"model":"sandbox/echo",/* */${hello}}`],
  ['single quotes', good.replaceAll('"', "'")],
  ['a bare word', '{model:"sandbox/echo"}'],
  ['NaN', `{"model":"sandbox/echo","temperature":NaN,${hello}}`],
  ['a number with a leading zero', `{"model":"sandbox/echo","seed":01,${hello}}`],
  ['a control character in a string', `{"model":"sandbox/echo","user":"a\u0001b",${hello}}`],
  ['an escape that does not exist', `{"model":"sandbox/echo","user":"\\x",${hello}}`],
  ['a byte order mark', `\uFEFF${good}`],
  ['bad UTF-8', Buffer.from(good.replace('Hello', 'H\xe9llo'), 'latin1')],
  ['an overlong UTF-8 slash', Buffer.concat([Buffer.from(good.slice(0, -1)), Buffer.from([0xc0, 0xaf])])],
  ['UTF-16', Buffer.from(good, 'utf16le')],
  ['1 MB of open brackets', '['.repeat(mebibyte)],
  [
    '1 MB of nested lists',
    `{"model":"sandbox/echo","x":${'['.repeat(mebibyte / 2)}${']'.repeat(mebibyte / 2)}}`,
  ],
  ['513 levels', `{"model":"sandbox/echo",${hello},"x":${'['.repeat(512)}${']'.repeat(512)}}`],
  ['no model', `{${hello}}`],
  ['model null', `{"model":null,${hello}}`],
  ['model a number', `{"model":4,${hello}}`],
  ['model a list', `{"model":["sandbox/echo"],${hello}}`],
  ['model twice', `{"model":"sandbox/echo","model":"sandbox/mini",${hello}}`],
  ['model twice, once escaped', `{"model":"sandbox/echo","\\u006dodel":"sandbox/mini",${hello}}`],
  ['model in another case', `{"model":"sandbox/echo","Model":"sandbox/mini",${hello}}`],
  ['only a Model', `{"Model":"sandbox/echo",${hello}}`],
  ['stream twice', `{"model":"sandbox/echo","stream":false,"stream":true,${hello}}`],
  ['stream a string', `{"model":"sandbox/echo","stream":"true",${hello}}`],
  ['stream a number', `{"model":"sandbox/echo","stream":1,${hello}}`],
  ['stream_options a list', `{"model":"sandbox/echo","stream":true,"stream_options":[],${hello}}`],
  [
    'include_usage twice',
    `{"model":"sandbox/echo","stream":true,"stream_options":{"include_usage":true,"include_usage":false},${hello}}`,
  ],
  [
    'include_usage in another case',
    `{"model":"sandbox/echo","stream":true,"stream_options":{"Include_Usage":true},${hello}}`,
  ],
  ['max_tokens negative', `{"model":"sandbox/echo","max_tokens":-1,${hello}}`],
  ['max_tokens a fraction', `{"model":"sandbox/echo","max_tokens":1.5,${hello}}`],
  ['max_tokens a string', `{"model":"sandbox/echo","max_tokens":"5",${hello}}`],
  ['max_tokens beyond all integers', `{"model":"sandbox/echo","max_tokens":1e400,${hello}}`],
  ['max_tokens twice', `{"model":"sandbox/echo","max_tokens":5,"max_tokens":6,${hello}}`],
  ['max_tokens with a Kelvin sign', `{"model":"sandbox/echo","max_to\u212Aens":5,${hello}}`],
  ['max_completion_tokens a boolean', `{"model":"sandbox/echo","max_completion_tokens":true,${hello}}`],
  ['n of 0', `{"model":"sandbox/echo","n":0,${hello}}`],
  ['n a string', `{"model":"sandbox/echo","n":"2",${hello}}`],
  ['service_tier a number', `{"model":"sandbox/echo","service_tier":1,${hello}}`],
  ['33 MiB', `{"model":"sandbox/echo","x":"${'a'.repeat(33 * mebibyte)}"}`],
];

describe('a request body', () => {
  let stack: Stack;
  let owned: { id: string; key: string };
  let served: { key: string };
  beforeAll(async () => {
    stack = await joinStack();
    const workspace = await stack.workspace({ rpm: 10_000 });
    owned = { id: workspace.id, key: (await stack.key(workspace.slug)).key };
    served = await stack.key((await stack.workspace({ tpm: null })).slug);
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const post = (body: string | Buffer, headers: Record<string, string> = {}, key = owned.key) =>
    talk(
      stack.url,
      requestText('POST', path, { ...bearer(key), 'Content-Type': 'application/json', ...headers }, body),
    );

  describe.concurrent('that cannot be read', () => {
    it.each(bad)(
      '%s is 400 invalid_body, costs nothing, and the next request is served',
      async (_name, body) => {
        const { answers } = await post(body);
        const [answer] = answers;
        if (!answer) throw new Error('no answer');
        await expectRefusedRow(stack, expectRefusal(answer, 'invalid_body', owned.key), 'invalid_body');
        expect((await ask(stack.url, 'GET', '/v1/models', bearer(owned.key))).status).toBe(200);
      },
    );

    it('33 MiB in chunks is refused while it is being read', async () => {
      const chunk = `100000\r\n${'a'.repeat(mebibyte)}\r\n`;
      const { answers, end } = await talk(
        stack.url,
        requestText('POST', path, { ...bearer(owned.key), 'Transfer-Encoding': 'chunked' }),
        {
          afterwards: (socket) => {
            for (let n = 0; n < 33; n += 1) socket.write(chunk);
            socket.write('0\r\n\r\n');
          },
        },
      );
      const [answer] = answers;
      if (!answer) throw new Error(`no answer: ${end}`);
      expectRefusal(answer, 'invalid_body', owned.key);
    });

    it('each of them left one row and no charge', async () => {
      await eventually(async () => (await callsOf(stack, owned.id)) >= bad.length, true);
      const { rows } = await stack.db.pool.query(
        'SELECT 1 FROM call WHERE workspace_id = $1 AND cost_nano <> 0',
        [owned.id],
      );
      expect(rows).toEqual([]);
    });
  });

  describe.concurrent('that can be read', () => {
    const mark = () => `m${Math.random().toString(36).slice(2)}`;
    it.each<[string, (mark: string) => string, Record<string, string>]>([
      ['without a Content-Type', (m) => good.replace('Hello', m), { 'Content-Type': '' }],
      ['called text', (m) => good.replace('Hello', m), { 'Content-Type': 'text/plain' }],
      [
        'with unknown fields',
        (m) => good.replace('Hello', m).replace('{', '{"zzz":{"model":1,"model":2},'),
        {},
      ],
      ['with white space around', (m) => ` \r\n\t${good.replace('Hello', m)}\n`, {}],
      [
        'at 512 levels',
        (m) =>
          `{"model":"sandbox/echo","messages":[{"role":"user","content":"${m}"}],"x":${'['.repeat(511)}${']'.repeat(511)}}`,
        {},
      ],
      ['with 1e3 as a number', (m) => good.replace('Hello', m).replace('{', '{"max_tokens":1e3,'), {}],
      [
        'with an escaped model name',
        (m) => good.replace('Hello', m).replace('sandbox/echo', 'sandbox\\/ech\\u006f'),
        {},
      ],
      [
        'with nulls for what is optional',
        (m) =>
          good
            .replace('Hello', m)
            .replace('{', '{"stream":null,"max_tokens":null,"n":null,"stream_options":null,'),
        {},
      ],
      ['with emoji and escapes', (m) => good.replace('Hello', `${m} 🌍 \\ud83d\\ude00 \\" é`), {}],
    ])('%s goes up with only the model name replaced', async (_name, make, headers) => {
      const m = mark();
      const body = make(m);
      const [answer] = (await post(body, headers, served.key)).answers;
      expect(answer?.status, answer?.body.toString()).toBe(200);
      const [seen] = await stack.sandbox.seen(m);
      expect(seen?.body).toBe(body.replace(/"sandbox(\/|\\\/)ech(o|\\u006f)"/, '"echo"'));
      expect(seen?.headers['content-type']).toBe('application/json');
    });

    it('31 MiB', async () => {
      const m = mark();
      const body = `{"model":"sandbox/free","user":"${m}","x":"${'a'.repeat(31 * mebibyte)}",${hello}}`;
      const [answer] = (await post(body, {}, served.key)).answers;
      expect(answer?.status).toBe(200);
      const [seen] = await stack.sandbox.seen(m);
      expect(seen?.bodyBytes).toBe(body.length - 'sandbox/free'.length + 'echo'.length);
    });

    it('in many chunks, with an extension and a trailer', async () => {
      const m = mark();
      const body = good.replace('Hello', m);
      const chunks =
        body.match(/.{1,7}/gs)?.map((part) => `${part.length.toString(16)};x=1\r\n${part}\r\n`) ?? [];
      const { answers } = await talk(
        stack.url,
        requestText(
          'POST',
          path,
          { ...bearer(served.key), 'Transfer-Encoding': 'chunked' },
          `${chunks.join('')}0\r\nX-Trailer: 1\r\n\r\n`,
        ),
      );
      expect(answers[0]?.status).toBe(200);
      expect(await receivedOf(stack, { mark: m })).toMatchObject({ model: 'echo' });
    });
  });
});
