import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contents, ended, events, post, unchunk } from '#tests/unit/sandbox/socket';
import { record } from '#tools/sandbox/content/tool-call';
import { type Sandbox, startSandbox } from '#tools/sandbox/server';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const complete = (text: string) => ended(text) || /content-length: (\d+)/i.test(text);
const whole = (model: string, extra: object = {}) => post(sandbox.origin, { model, ...extra }, complete);
const streamed = async (model: string, extra: object = {}) => {
  const wire = await post(sandbox.origin, { model, stream: true, ...extra }, ended);
  return { ...wire, raw: unchunk(wire.body), text: unchunk(wire.body).toString() };
};
const withUsage = { stream_options: { include_usage: true } };
const usages = (text: string) => events(text).flatMap(({ usage }) => (usage ? [record(usage)] : []));

describe('instead of an answer', () => {
  test.each([
    ['fault/status-500', 'HTTP/1.1 500', '"type":"server_error"'],
    ['fault/status-401', 'HTTP/1.1 401', '"code":"invalid_api_key"'],
    ['fault/status-400', 'HTTP/1.1 400', '"type":"invalid_request_error"'],
    ['fault/status-529', 'HTTP/1.1 529', '"code":"overloaded"'],
    ['fault/invalid-key-400', 'HTTP/1.1 400', 'Incorrect API key provided'],
    ['fault/garbage', 'HTTP/1.1 200', '<!doctype html>'],
    ['fault/garbage?kind=json', 'HTTP/1.1 200', '{"id":"chatcmpl-broken"'],
    ['fault/redirect', 'HTTP/1.1 302', 'html'],
    ['fault/flood', 'HTTP/1.1 404', 'error-event'],
  ])('%s answers %s', async (model, status, body) => {
    const wire = await post(sandbox.origin, { model }, undefined, { connection: 'close' });
    expect(wire.head.startsWith(status)).toBe(true);
    expect(wire.body.toString()).toContain(body);
  });

  test('status-429 sends the Retry-After of its name', async () => {
    expect((await whole('fault/status-429?retry_after=2')).head).toMatch(/retry-after: 2\r\n/);
    expect((await whole('fault/status-429')).head).not.toMatch(/retry-after/);
  });

  test('close-before-headers closes and reset resets the connection without a byte', async () => {
    expect(await post(sandbox.origin, { model: 'fault/close-before-headers' })).toMatchObject({
      head: '',
      closed: 'fin',
    });
    expect(await post(sandbox.origin, { model: 'fault/reset' })).toMatchObject({ head: '', closed: 'reset' });
  });

  test('slow-first-byte is silent for its time, then answers', async () => {
    const wire = await whole('fault/slow-first-byte?ms=150');
    expect(wire.ms).toBeGreaterThanOrEqual(149);
    expect(wire.head).toMatch(/^HTTP\/1.1 200/);
  });

  test('long-events adds its bytes to each event', async () => {
    const wire = await streamed('pace/0/3/fault/long-events?bytes=3000');
    expect(contents(wire.text)).toHaveLength(3);
    expect(wire.text.split(`"obfuscation":"${'x'.repeat(3_000)}"`)).toHaveLength(6);
  });

  test('huge-headers sends a header of the given size', async () => {
    expect((await whole('fault/huge-headers?bytes=20000')).head).toContain(
      `x-filler: ${'a'.repeat(20_000)}\r\n`,
    );
  });
});

describe('a stream that breaks', () => {
  test.each([
    ['cut', 'fin'],
    ['reset', 'reset'],
  ])('%s@3 breaks the connection after three chunks, without the last chunk', async (fault, closed) => {
    const wire = await streamed(`fault/${fault}@3`);
    expect(wire.closed).toBe(closed);
    expect(contents(wire.text)).toHaveLength(3);
    expect(ended(wire.body.toString())).toBe(false);
  });

  test('cut-inside cuts in the middle of a character', async () => {
    const { raw, closed } = await streamed('fault/cut-inside@1');
    expect(closed).toBe('fin');
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(raw)).toThrow();
  });

  test('end@2 ends the body properly, with no finish, usage or [DONE]', async () => {
    const { text, closed } = await streamed('fault/end@2', withUsage);
    expect(closed).toBe('open');
    expect(contents(text)).toHaveLength(2);
    expect(text).not.toMatch(/\[DONE\]|"finish_reason":"/);
    expect(usages(text)).toEqual([]);
  });

  test.each([0, 2])('error-event@%i ends with an error after that many chunks', async (at) => {
    const { text } = await streamed(`fault/error-event@${at}`);
    expect(contents(text)).toHaveLength(at);
    expect(events(text).at(-1)).toMatchObject({ error: { type: 'server_error' } });
    expect(text).not.toContain('[DONE]');
  });

  test('stall@2 pauses after two chunks and, with ms, goes on', async () => {
    const { text, ms } = await streamed('fault/stall@2?ms=120');
    expect(ms).toBeGreaterThanOrEqual(119);
    expect(contents(text).length).toBeGreaterThan(2);
    expect(text).toContain('[DONE]');
  });

  test('stall@0 sends headers and then nothing until the client leaves', async () => {
    const model = 'fault/stall@0?who=me';
    const wire = await post(sandbox.origin, { model, stream: true }, (text) => text.includes('\r\n\r\n'));
    expect(wire.body.length).toBe(0);
    const [line] = await sandbox.truth.read(0, (one) => one.event === 'end' && one.model === model, 5_000);
    expect(line).toMatchObject({ end: 'client_gone', outputTokens: 0 });
  });

  test('a whole body breaks halfway', async () => {
    const wire = await post(sandbox.origin, { model: 'fault/cut' });
    const announced = Number(/content-length: (\d+)/.exec(wire.head)?.[1]);
    expect(wire.closed).toBe('fin');
    expect(wire.body.length).toBe(Math.floor(announced / 2));
  });
});

describe('framing', () => {
  test.each([
    ['fault/crlf', '\r\n\r\n'],
    ['fault/cr', '\r\r'],
  ])('%s ends its lines with its own line ending', async (model, blank) => {
    const { text } = await streamed(model);
    expect(text.split(blank).at(-2)).toBe('data: [DONE]');
    expect(text.replaceAll('\r\n', '').replaceAll('\r', '')).not.toContain('\n');
  });

  test('slow-bytes sends the same body in chunks of one byte', async () => {
    const wire = await whole('fault/slow-bytes?tokens=2');
    const { text, body } = await streamed('fault/slow-bytes?tokens=2');
    expect(wire.head).toMatch(/^HTTP\/1.1 200/);
    expect(body.toString('latin1').match(/(^|\r\n)1\r\n/g)?.length).toBe(Buffer.byteLength(text));
  });

  test.each([-7, 11])('wrong-length is off by %i', async (by) => {
    const model = `fault/wrong-length?by=${by}`;
    const wire = await post(sandbox.origin, { model }, undefined, { connection: 'close' });
    const announced = Number(/content-length: (\d+)/.exec(wire.head)?.[1]);
    expect(announced - wire.body.length).toBe(by);
  });

  test('gzip compresses although the client did not ask for it', async () => {
    const response = await fetch(`${sandbox.url}/chat/completions`, {
      method: 'POST',
      headers: { 'accept-encoding': 'identity' },
      body: JSON.stringify({ model: 'fault/gzip', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(await response.json()).toMatchObject({ object: 'chat.completion' });
  });

  test('comments, a second [DONE] and bytes after it are sent by their faults', async () => {
    expect((await streamed('fault/comments')).text).toContain(': SANDBOX PROCESSING\n\ndata: ');
    expect((await streamed('fault/done-twice')).text).toMatch(/data: \[DONE\]\n\ndata: \[DONE\]\n\n$/);
    expect((await streamed('fault/trailing-bytes')).text).toMatch(/\[DONE\]\n\ndata: .*\n\ntail$/);
  });

  test('malformed-event@1 breaks one event and goes on', async () => {
    const { text } = await streamed('fault/malformed-event@1');
    expect(text).toContain('data: {"id":"chatcmpl-\n\n');
    expect(text).toContain('[DONE]');
  });

  test('endless exceeds any budget', async () => {
    const wire = await post(
      sandbox.origin,
      { model: 'fault/endless', stream: true, max_tokens: 3 },
      (text) => {
        return text.split('"content":').length > 20;
      },
    );
    expect(wire.closed).toBe('open');
  });
});

describe('usage', () => {
  test.each([
    ['no-usage', undefined],
    ['null-usage', null],
    ['negative-usage', { prompt_tokens: -10, completion_tokens: -4 }],
    ['absurd-usage', { prompt_tokens: 1e12, completion_tokens: 1e12 }],
    ['fraction-usage', { prompt_tokens: 10.5, completion_tokens: 4.5 }],
  ])('%s falsifies whole answers and streams in the same way', async (fault, expected) => {
    const asked = { model: `fault/${fault}?tokens=4` };
    const wire = await post(sandbox.origin, asked, undefined, { connection: 'close' });
    const { text } = await streamed(asked.model, withUsage);
    const told = record(JSON.parse(wire.body.toString())).usage;
    if (expected) {
      expect(told).toMatchObject(expected);
      expect(usages(text)).toEqual([expect.objectContaining(expected)]);
    } else {
      expect(told).toBe(expected);
      expect(usages(text)).toEqual([]);
    }
  });

  test('usage-twice corrects its first report', async () => {
    const { text } = await streamed('fault/usage-twice?tokens=10', withUsage);
    expect(usages(text).map((usage) => usage.completion_tokens)).toEqual([5, 10]);
  });

  test('usage-in-finish-chunk sends unrequested usage together with a choice', async () => {
    const { text } = await streamed('fault/usage-in-finish-chunk?tokens=4');
    const [event, ...more] = events(text).filter(({ usage }) => usage);
    expect(more).toEqual([]);
    expect(event).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage: { completion_tokens: 4 } });
  });

  test('usage-every-chunk grows to the true usage', async () => {
    const { text } = await streamed('fault/usage-every-chunk?tokens=4');
    expect(usages(text).map((usage) => usage.completion_tokens)).toEqual([0, 1, 2, 3, 4, 4]);
  });

  test('x-groq-usage reports usage in x_groq', async () => {
    const { text } = await streamed('fault/x-groq-usage?tokens=4');
    expect(events(text).at(-1)).toMatchObject({ x_groq: { usage: { completion_tokens: 4 } } });
    expect(usages(text)).toEqual([]);
  });

  test('moderation-chunk sends a chunk with empty choices after the usage', async () => {
    const { text } = await streamed('fault/moderation-chunk', withUsage);
    const [usage, moderation] = events(text).slice(-2);
    expect(usage).toMatchObject({ choices: [], usage: { prompt_tokens: 10 } });
    expect(moderation).toMatchObject({ choices: [], moderation: { flagged: false }, usage: null });
  });
});
