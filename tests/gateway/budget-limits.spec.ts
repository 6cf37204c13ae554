import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#lib/core/errors';
import { ask, askChat, bearer, codeOf, jsonOf } from '#tests/support/chat-call';
import { setKey } from '#tests/support/control/operate';
import { type InProcess, startInProcess } from '#tests/support/in-process';
import { expectRefusal } from '#tests/support/refusals';
import { headerOf, type Wire } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

type KeySettings = Parameters<InProcess['key']>[0];
type WorkspaceSettings = Parameters<InProcess['key']>[1];

/** Tokens of the usage that an answer reports. */
function totalOf(answer: Wire): number {
  return Number(record(jsonOf(answer).usage).total_tokens);
}

describe('the limits of a key and of its workspace (contract: limits/rpm, limits/tpm, limits/concurrency)', () => {
  let gateway: InProcess;
  beforeAll(async () => {
    gateway = await startInProcess({ still: true });
  });
  afterAll(() => gateway.close());

  const chat = (key: string, fields: Record<string, unknown> = {}) => askChat(gateway.url, key, fields);

  it.each<[ErrorCode, KeySettings, WorkspaceSettings]>([
    ['api_key_rpm_exceeded', { rpm: 2 }, {}],
    ['workspace_rpm_exceeded', {}, { rpm: 2 }],
  ])(
    '%s: at most so many in any 60 s, and a retry after Retry-After is admitted',
    async (code, key, workspace) => {
      const own = await gateway.key(key, workspace);
      expect((await chat(own.key)).answer.status).toBe(200);
      gateway.pass(20);
      const second = await chat(own.key);
      expect(headerOf(second.answer, 'x-ratelimit-limit-requests')).toBe('2');
      expect(headerOf(second.answer, 'x-ratelimit-remaining-requests')).toBe('0');
      for (let n = 0; n < 3; n += 1) expectRefusal((await chat(own.key)).answer, code, own.key);
      const refused = await chat(own.key);
      const waitSeconds = Number(headerOf(refused.answer, 'retry-after'));
      expect(waitSeconds).toBeGreaterThanOrEqual(39);
      expect(waitSeconds).toBeLessThanOrEqual(40);
      gateway.pass(waitSeconds - 2);
      expect(codeOf((await chat(own.key)).answer)).toBe(code);
      gateway.pass(2);
      expect((await chat(own.key)).answer.status).toBe(200);
      expect(codeOf((await chat(own.key)).answer)).toBe(code);
    },
  );

  it.each<[ErrorCode, (tpm: number) => [KeySettings, WorkspaceSettings]]>([
    ['api_key_tpm_exceeded', (tpm) => [{ tpm }, {}]],
    ['workspace_tpm_exceeded', (tpm) => [{}, { tpm }]],
  ])('%s: counts what calls used, and a retry after Retry-After is admitted', async (code, settings) => {
    const own = await gateway.key(...settings(400));
    // An estimate of some 100 tokens, of which fewer are used: the rest comes back at the end.
    const first = await chat(own.key, { max_tokens: 60 });
    expect(first.answer.status).toBe(200);
    const again = await chat(own.key, { max_tokens: 60 });
    const left = Number(headerOf(again.answer, 'x-ratelimit-remaining-tokens'));
    const estimate = Math.ceil(again.body.length / 3) + 60;
    expect(left).toBe(400 - totalOf(first.answer) - estimate);
    let refused = again;
    for (let n = 0; n < 20 && refused.answer.status === 200; n += 1)
      refused = await chat(own.key, { max_tokens: 60 });
    expectRefusal(refused.answer, code, own.key);
    gateway.pass(Number(headerOf(refused.answer, 'retry-after')));
    expect((await chat(own.key, { max_tokens: 60 })).answer.status).toBe(200);
  });

  it('a request larger than the whole token limit is admitted only into an empty window', async () => {
    const own = await gateway.key({ tpm: 50 });
    expect((await chat(own.key)).answer.status).toBe(200);
    const refused = await chat(own.key);
    expectRefusal(refused.answer, 'api_key_tpm_exceeded', own.key);
    gateway.pass(Number(headerOf(refused.answer, 'retry-after')));
    expect((await chat(own.key)).answer.status).toBe(200);
  });

  it('cached input does not count, uncached input and output do', async () => {
    const own = await gateway.key({ tpm: 1_000_000 });
    const messages = [{ role: 'user', content: 'a long prefix '.repeat(600) }];
    const send = async () => {
      const { answer } = await chat(own.key, { messages, max_tokens: 10 });
      return { answer, usage: record(jsonOf(answer).usage) };
    };
    const first = await send();
    const second = await send();
    const cached = Number(record(second.usage.prompt_tokens_details).cached_tokens);
    expect(cached).toBeGreaterThan(1_000);
    const third = await chat(own.key, { max_tokens: 10 });
    const used = Number(first.usage.total_tokens) + Number(second.usage.total_tokens) - cached;
    const estimate = Math.ceil(third.body.length / 3) + 10;
    expect(Number(headerOf(third.answer, 'x-ratelimit-remaining-tokens'))).toBe(1_000_000 - used - estimate);
  });

  it('Retry-After is the longest wait over all limits that are violated now; the code is the first one', async () => {
    const own = await gateway.key({ rpm: 1 }, { tpm: 60 });
    expect((await chat(own.key)).answer.status).toBe(200);
    gateway.pass(30);
    const refused = await chat(own.key);
    expectRefusal(refused.answer, 'api_key_rpm_exceeded', own.key);
    gateway.pass(Number(headerOf(refused.answer, 'retry-after')));
    expect((await chat(own.key)).answer.status).toBe(200);
  });

  it('the headers show the tighter of key and workspace, and omit a kind without a limit', async () => {
    const tight = await gateway.key({ rpm: 5 }, { rpm: 9, tpm: null });
    const { answer } = await chat(tight.key);
    expect(headerOf(answer, 'x-ratelimit-limit-requests')).toBe('5');
    expect(headerOf(answer, 'x-ratelimit-remaining-requests')).toBe('4');
    expect(headerOf(answer, 'x-ratelimit-limit-tokens')).toBeUndefined();
    const free = await gateway.key({}, { rpm: null, tpm: null, concurrency: null });
    const unlimited = (await chat(free.key)).answer;
    expect(unlimited.headers.filter(([name]) => name.startsWith('x-ratelimit'))).toEqual([]);
    const listed = await ask(gateway.url, 'GET', '/v1/models', bearer(tight.key));
    expect(headerOf(listed, 'x-ratelimit-remaining-requests')).toBe('3');
  });

  it('models lists count for RPM alone', async () => {
    const own = await gateway.key({ rpm: 2, tpm: 1, concurrency: 1 });
    for (let n = 0; n < 2; n += 1) {
      expect((await ask(gateway.url, 'GET', '/v1/models', bearer(own.key))).status).toBe(200);
    }
    const third = await ask(gateway.url, 'GET', '/v1/models', bearer(own.key));
    expectRefusal(third, 'api_key_rpm_exceeded', own.key);
  });

  it('a limit that is set, removed and set again counts the calls of the last minute', async () => {
    const own = await gateway.key();
    for (let n = 0; n < 3; n += 1) expect((await chat(own.key)).answer.status).toBe(200);
    const underNewLimits = async (limits: KeySettings) => {
      await setKey(gateway.db, { id: own.id, ...limits });
      await gateway.pollNow();
      const { answer } = await chat(own.key);
      return codeOf(answer) ?? answer.status;
    };
    expect(await underNewLimits({ rpm: 3 })).toBe('api_key_rpm_exceeded');
    expect(await underNewLimits({ rpm: null })).toBe(200);
    expect(await underNewLimits({ rpm: 4 })).toBe('api_key_rpm_exceeded');
    expect(await underNewLimits({ rpm: null, tpm: 1 })).toBe('api_key_tpm_exceeded');
    gateway.pass(61);
    expect(await underNewLimits({ rpm: 1, tpm: null })).toBe(200);
  });

  it('keys of one workspace share its limits and not their own', async () => {
    const one = await gateway.key({ rpm: 1 }, { rpm: 2 });
    const other = await gateway.key({ rpm: 1, workspace: one.workspace });
    expect((await chat(one.key)).answer.status).toBe(200);
    expect((await chat(other.key)).answer.status).toBe(200);
    expect(codeOf((await chat(other.key)).answer)).toBe('api_key_rpm_exceeded');
    gateway.pass(61);
    expect((await chat(one.key)).answer.status).toBe(200);
    expect((await chat(other.key)).answer.status).toBe(200);
  });

  it('refused requests change no counter', async () => {
    const own = await gateway.key({
      rpm: 2,
      tpm: 20_000,
      concurrency: 1,
      models: ['sandbox/echo', 'test/nowhere'],
    });
    const refusals: (readonly [ErrorCode, Record<string, unknown>])[] = [
      ['model_not_allowed', { model: 'sandbox/mini' }],
      ['model_not_allowed', { model: 'no/such' }],
      ['invalid_body', { max_tokens: -1 }],
      ['missing_upstream_base_url', { model: 'test/nowhere' }],
    ];
    for (const [code, fields] of refusals) {
      for (let n = 0; n < 3; n += 1) expectRefusal((await chat(own.key, fields)).answer, code, own.key);
    }
    const first = await chat(own.key, { max_tokens: 1 });
    expect(headerOf(first.answer, 'x-ratelimit-remaining-requests')).toBe('1');
    expect((await chat(own.key, { max_tokens: 1 })).answer.status).toBe(200);
    for (let n = 0; n < 5; n += 1) expect(codeOf((await chat(own.key)).answer)).toBe('api_key_rpm_exceeded');
    gateway.pass(61);
    const later = await chat(own.key, { max_tokens: 1 });
    expect(headerOf(later.answer, 'x-ratelimit-remaining-requests')).toBe('1');
    expect(Number(headerOf(later.answer, 'x-ratelimit-remaining-tokens'))).toBe(
      20_000 - Math.ceil(later.body.length / 3) - 1,
    );
  });
});
