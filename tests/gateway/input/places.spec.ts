import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, bearer, codeOf } from '#tests/support/chat-call';
import { disableKey } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { type InProcess, startInProcess } from '#tests/support/in-process';
import { requestText, talk } from '#tests/support/wire';

const bytes = 300 * 1024;
const good = '{"model":"sandbox/free","messages":[{"role":"user","content":"Hello"}]';
const large = `${good},"x":"${'a'.repeat(bytes - good.length - 8)}"}`;
const broken = `${large.slice(0, -1)}]`;
const small = `${good}}`;

let gateway: InProcess;
beforeAll(async () => {
  gateway = await startInProcess({ still: true });
});
afterAll(() => gateway.close());

const headers = (key: string) => ({ ...bearer(key), 'Content-Type': 'application/json' });
const post = (key: string, body: string) =>
  ask(gateway.url, 'POST', '/v1/chat/completions', headers(key), body);
const chunkOf = (body: string) => `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`;

/** Sends all of a large body but its end; `finish` sends that. */
function begin(key: string, framing: 'length' | 'chunks' = 'length') {
  const end = Promise.withResolvers<'rest' | 'leave'>();
  const start = Promise.withResolvers<void>();
  const framed: Record<string, string> =
    framing === 'length' ? { 'Content-Length': String(large.length) } : { 'Transfer-Encoding': 'chunked' };
  const most = large.slice(0, -10);
  const talking = talk(
    gateway.url,
    requestText('POST', '/v1/chat/completions', { ...headers(key), ...framed }),
    {
      afterwards: (socket) => {
        socket.write(framing === 'length' ? most : chunkOf(most), () => start.resolve());
        void end.promise.then((how) => {
          if (how === 'leave') socket.destroy(new Error('left'));
          else
            socket.write(framing === 'length' ? large.slice(-10) : `${chunkOf(large.slice(-10))}0\r\n\r\n`);
        });
      },
    },
  );
  let refused = false;
  void talking.then(({ answers }) => {
    refused = answers[0]?.status === 429;
  });
  return {
    started: start.promise,
    refused: () => refused,
    finish: async () => {
      end.resolve('rest');
      return (await talking).answers[0]?.status;
    },
    leave: async () => {
      end.resolve('leave');
      await talking;
    },
  };
}

/** The same, once it has its place, as a body that nobody can read finds out; it may have been in the way. */
async function hold(key: string, framing: 'length' | 'chunks', code: string) {
  for (;;) {
    const one = begin(key, framing);
    await one.started;
    while (!one.refused()) if (codeOf(await post(key, broken)) === code) return one;
  }
}

describe('a call with a large body (contract: body/large-first)', () => {
  it('holds its slot while its body arrives, with or without Content-Length, and until its client disconnects', async () => {
    const { key } = await gateway.key({ concurrency: 1 });
    for (const framing of ['length', 'chunks'] as const) {
      const first = await hold(key, framing, 'api_key_concurrency_exceeded');
      expect(codeOf(await post(key, large))).toBe('api_key_concurrency_exceeded');
      expect(await first.finish()).toBe(200);
      const second = await hold(key, framing, 'api_key_concurrency_exceeded');
      await second.leave();
      await eventually(async () => (await post(key, small)).status, 200);
    }
  });

  it('holds its RPM unit for as long as its body comes, and from its claim on as any other', async () => {
    const { key } = await gateway.key({ rpm: 1 });
    const first = await hold(key, 'length', 'api_key_rpm_exceeded');
    gateway.pass(90);
    expect(codeOf(await post(key, small))).toBe('api_key_rpm_exceeded');
    expect(await first.finish()).toBe(200);
    gateway.pass(50);
    expect(codeOf(await post(key, small))).toBe('api_key_rpm_exceeded');
    gateway.pass(11);
    expect((await post(key, small)).status).toBe(200);
  });

  it('is refused by its limits before its body is read; a small one is read first', async () => {
    const { key } = await gateway.key({ rpm: 1 });
    expect((await post(key, small)).status).toBe(200);
    expect(codeOf(await post(key, broken))).toBe('api_key_rpm_exceeded');
    expect(codeOf(await post(key, '{'))).toBe('invalid_body');
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['a body that cannot be read', {}, broken, 'invalid_body'],
    ['a model that is unknown', {}, large.replace('sandbox/free', 'sandbox/none'), 'model_not_allowed'],
    ['a cap that is reached', { quota: '0.000000001' }, large.replace('free', 'echo'), 'quota_exceeded'],
  ])('gives back all it held when %s ends it', async (what, settings, body, code) => {
    const { key } = await gateway.key({ rpm: 2, concurrency: 1, ...settings });
    // The one that crosses a cap is admitted.
    const before = what.startsWith('a cap') ? [(await post(key, small.replace('free', 'echo'))).status] : [];
    expect(before).toEqual(what.startsWith('a cap') ? [200] : []);
    for (let n = 0; n < 4; n += 1) expect(codeOf(await post(key, body))).toBe(code);
    expect((await post(key, small)).status).toBe(what.startsWith('a cap') ? 402 : 200);
  });

  it('is refused when its key was disabled while its body came', async () => {
    const { id, key } = await gateway.key({ concurrency: 1 });
    const first = await hold(key, 'length', 'api_key_concurrency_exceeded');
    await disableKey(gateway.db, { id });
    await gateway.announce();
    expect(await first.finish()).toBe(403);
  });

  it('is asked for its tokens once it is read', async () => {
    const { key } = await gateway.key({ tpm: 100_000 });
    expect((await post(key, small)).status).toBe(200);
    expect(codeOf(await post(key, large))).toBe('api_key_tpm_exceeded');
    gateway.pass(61);
    expect((await post(key, large)).status).toBe(200);
  });
});
