import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cheapestProbe, probe } from '#lib/control/operations/provider/probe';
import { createAccess } from '#lib/gateway/clouds/access';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { createPools } from '#lib/gateway/upstream/pools';
import { systemClock } from '#lib/platform/clock';
import { type CloudStage, openStage } from '#tests/gateway/clouds/stage';
import { events, message, sse } from '#tests/support/clouds/answers';
import { cloudKeys } from '#tests/support/clouds/clouds';
import { eventually } from '#tests/support/eventually';

let stage: CloudStage;
beforeAll(async () => {
  stage = await openStage();
});
beforeEach(() => stage.clouds.set());
afterAll(() => stage.close());

const messages = [{ role: 'user', content: 'hello' }];
const chat = (model: string) =>
  stage.ask('/v1/chat/completions', { model, messages }, { 'x-translate': 'never' });
const anthropic = (model: string, more: object = {}, headers = {}) =>
  stage.ask(
    '/v1/messages',
    { model, max_tokens: 20, messages, ...more },
    { 'x-translate': 'never', ...headers },
  );
const seen = (what: string) => stage.clouds.seen.filter((one) => one.what === what);

describe('credentials of clouds (contract: families/cloud-credentials)', () => {
  it('Azure takes an API key in its own header', async () => {
    expect((await chat('cloud/azure-key')).status).toBe(200);
    expect(seen('azure')[0]?.headers['api-key']).toBe(cloudKeys.azure);
    expect(seen('entra token')).toEqual([]);
  });

  it('Azure takes tokens of Entra ID, by a client secret and by a workload identity; each is fetched once', async () => {
    for (const model of ['cloud/azure-entra', 'cloud/azure-workload']) {
      await stage.clouds.set();
      for (let at = 0; at < 3; at += 1) expect((await chat(model)).status).toBe(200);
      expect(seen('azure').map(({ headers }) => headers.authorization?.slice(0, 19))).toEqual(
        Array.from({ length: 3 }, () => 'Bearer azure-token-'),
      );
      expect(seen('entra token').filter(({ path }) => path.includes('/oauth2/v2.0/token')).length).toBe(1);
    }
  });

  it('Vertex takes tokens of a service account for each of its protocols', async () => {
    const whole = await anthropic('cloud/vertex', {}, { 'anthropic-beta': 'one-1' });
    expect([whole.status, JSON.parse(whole.text)]).toEqual([200, message]);
    const [sent] = seen('vertex');
    expect(sent?.path).toBe('/v1/projects/p/locations/l/publishers/anthropic/models/claude%401:rawPredict');
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 20,
      messages,
    });
    expect(sent?.headers).toMatchObject({ 'anthropic-beta': 'one-1' });
    expect(sent?.headers).not.toHaveProperty('anthropic-version');
    const streamed = await anthropic('cloud/vertex', { stream: true });
    expect(streamed.text).toBe(sse);
    expect((await chat('cloud/vertex')).status).toBe(200);
    const contents = [{ role: 'user', parts: [{ text: 'hello' }] }];
    const content = await stage.ask('/v1beta/models/cloud/gemini:generateContent', { contents });
    expect(content.status).toBe(200);
    expect(seen('vertex').at(-1)?.path).toBe(
      '/v1/projects/p/locations/l/publishers/google/models/gemini-1:generateContent',
    );
    const count = await stage.ask('/v1/messages/count_tokens?beta=true', { model: 'cloud/vertex', messages });
    expect(JSON.parse(count.text)).toEqual({ input_tokens: 7 });
    expect(seen('google token').length).toBe(1);
  });

  it('Vertex takes tokens of a workload identity', async () => {
    for (let at = 0; at < 2; at += 1) expect((await chat('cloud/vertex-workload')).status).toBe(200);
    expect(seen('google token').length).toBe(1);
  });

  for (const id of ['bedrock-key', 'bedrock-keys', 'bedrock-role']) {
    it(`Bedrock takes ${id} for both of its protocols`, async () => {
      const model = `cloud/${id}`;
      const whole = await anthropic(model, {}, { 'anthropic-beta': 'one-1,two-2' });
      expect([whole.status, JSON.parse(whole.text)]).toEqual([200, message]);
      const [sent] = seen('bedrock');
      expect(sent?.path).toBe('/model/eu.anthropic.claude-sonnet-4-5-v1%3A0/invoke');
      expect(JSON.parse(sent?.body ?? '')).toEqual({
        anthropic_version: 'bedrock-2023-05-31',
        max_tokens: 20,
        messages,
        anthropic_beta: ['one-1', 'two-2'],
      });
      const streamed = await anthropic(model, { stream: true });
      expect(streamed.text).toBe(sse);
      const { attempts } = await stage.stack.call(streamed.id);
      expect(attempts[0]?.upstreamRequestId).toBe('bedrock-request');
      const call = await stage.stack.call(streamed.id);
      expect(call.usage).toMatchObject({ output: 5 });
      expect((await chat(model)).status).toBe(200);
      const count = await stage.ask('/v1/messages/count_tokens', { model, messages });
      expect(JSON.parse(count.text)).toEqual({ input_tokens: 7 });
      expect(new Set(seen('bedrock').map(({ status }) => status))).toEqual(new Set([200]));
    });
  }

  it('a long body is signed as it is sent', async () => {
    const long = [{ role: 'user', content: 'x'.repeat(700_000) }];
    expect((await anthropic('cloud/bedrock-keys', { messages: long })).status).toBe(200);
  });

  it('the operator’s test of a provider is one call with its token or signature', async () => {
    const { db, environment } = stage.stack;
    const catalogue = await loadCatalogue(db.pool, {
      envSecret: (name) => environment[name],
      sealingKey: null,
    });
    const pools = createPools();
    const parts = { clock: systemClock, pools, catalogue: () => catalogue, variable: () => null };
    const access = createAccess({ ...parts, warn: () => {} });
    for (const id of ['azure-key', 'azure-entra', 'vertex', 'bedrock-key', 'bedrock-keys']) {
      const found = cheapestProbe(catalogue, id, null, Date.now());
      expect([id, found && (await probe(found, { pools, access }))]).toMatchObject([
        id,
        { ok: true, status: 200 },
      ]);
    }
    access.stop();
    await pools.close();
  });

  it('tokens and keys of roles that end while calls run fail none, and no call waits for one', async () => {
    // Renewed seconds before its end, so that a busy machine is not too late.
    await stage.clouds.set({ tokenSeconds: 20 });
    // What was fetched before lives for an hour: a new credential begins.
    await stage.stack.kill('SIGTERM');
    await stage.stack.start();
    const models = ['cloud/azure-entra', 'cloud/vertex', 'cloud/bedrock-role'];
    const issuers = ['google token', 'sts'];
    const refusals = new Set<string>();
    const startedMs = Date.now();
    await Promise.all(
      models.flatMap((model) =>
        Array.from({ length: 4 }, async () => {
          while (refusals.size === 0 && issuers.some((issuer) => seen(issuer).length < 3)) {
            const { status, text } = await chat(model);
            if (status !== 200) refusals.add(text);
          }
        }),
      ),
    );
    expect(refusals).toEqual(new Set());
    // Not by every call.
    const most = 3 + (Date.now() - startedMs) / 5_000;
    for (const issuer of issuers) expect(seen(issuer).length).toBeLessThan(most);
  });

  it('clocks that are four minutes apart are noticed by the answers, and corrected', async () => {
    for (const aheadMs of [240_000, -240_000]) {
      await stage.clouds.set({ aheadMs });
      await stage.stack.kill('SIGTERM');
      await stage.stack.start();
      for (const model of ['cloud/bedrock-keys', 'cloud/vertex']) {
        const first = await chat(model);
        expect([model, aheadMs, first.status, first.text]).toEqual([model, aheadMs, 200, first.text]);
        await stage.clouds.set({ aheadMs });
        expect((await chat(model)).status).toBe(200);
        // Signed right at once.
        expect(stage.clouds.seen.map(({ status }) => status)).toEqual([200]);
      }
    }
  });

  it('a revoked credential is a clear error, the next provider answers, and nothing secret is written', async () => {
    await stage.stack.kill('SIGTERM');
    await stage.stack.start();
    await stage.clouds.set({ revoked: true });
    const models = [
      'cloud/azure-entra',
      'cloud/vertex',
      'cloud/bedrock-role',
      'cloud/bedrock-keys',
      'cloud/azure-key',
    ];
    const answers = [];
    for (const model of models) answers.push(await chat(model));
    expect(answers.map(({ status }) => status)).toEqual([502, 502, 502, 403, 401]);
    expect(answers[1]?.text).toContain('vertex: token_refused');
    const call = await stage.stack.call(answers[0]?.id ?? '');
    expect(call.attempts[0]).toMatchObject({ error: 'token_refused', status: null });
    expect(call.attempts[0]?.providerMessage).toContain('AADSTS7000215');
    await eventually(async () => stage.stack.log().includes('a credential gets no token'), true);
    const written = JSON.stringify([stage.stack.log(), answers, call]);
    const { entra, aws } = cloudKeys;
    const key = JSON.parse(stage.clouds.serviceAccount).private_key.split('\n')[1];
    for (const secret of [
      entra.clientSecret,
      aws.secretAccessKey,
      key,
      cloudKeys.azure,
      '-token-',
      'session-',
    ]) {
      expect(written).not.toContain(secret);
    }
  });

  it('a token that the provider refuses is replaced for later calls', async () => {
    await stage.stack.kill('SIGTERM');
    await stage.stack.start();
    expect((await chat('cloud/vertex')).status).toBe(200);
    await stage.clouds.set({ revoked: true });
    expect((await chat('cloud/vertex')).status).toBe(401);
    await stage.clouds.set();
    await eventually(async () => (await chat('cloud/vertex')).status, 200);
  });
});

describe('the binary streams of Bedrock (contract: families/bedrock-stream)', () => {
  const stream = () => anthropic('cloud/bedrock-keys', { stream: true });

  it('a stream that comes one byte at a time is the same', async () => {
    await stage.clouds.set({ pieceBytes: 1 });
    expect((await stream()).text).toBe(sse);
  });

  for (const [ending, says] of [
    ['cut', 'upstream_request_failed'],
    ['damaged', 'upstream_request_failed'],
  ] as const) {
    it(`a stream that is ${ending} ends with the family’s own error and without its end`, async () => {
      await stage.clouds.set({ ending });
      const { text } = await stream();
      const begun = events.slice(0, 9).map((event) => `data: ${JSON.stringify(event)}`);
      expect(
        text
          .split('\n')
          .filter((line) => line.startsWith('data: '))
          .slice(0, 9),
      ).toEqual(begun);
      expect(text).toContain('event: error');
      expect(text).toContain(says);
      expect(text).not.toContain('message_stop');
    });
  }

  it('an exception in a stream is an error of Anthropic', async () => {
    await stage.clouds.set({ ending: 'exception' });
    const { text } = await stream();
    expect(text).toContain('event: error\ndata: {"type":"error","error":{"type":"rate_limit_error"');
    expect(text).not.toContain('message_stop');
  });

  it('an error is one of Anthropic, and a limit sends the call to the next cloud with all that it has', async () => {
    // Both clouds have got over what the tests before did to them.
    await eventually(async () => {
      await anthropic('cloud/vertex');
      return (await stage.stack.call((await anthropic('anthropic/everywhere')).id)).attempts.at(-1)?.provider;
    }, 'bedrock-role');
    await stage.clouds.set({ refuseWith: 429 });
    const refused = await anthropic('cloud/bedrock-keys');
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      429,
      { type: 'error', error: { type: 'rate_limit_error', message: 'Too many requests, please wait.' } },
    ]);
    await stage.clouds.set({ refuseWith: 429 });
    const signed = [
      ...messages,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
          { type: 'tool_use', id: 't1', name: 'f', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: '1' }] },
    ];
    const tools = [{ name: 'f', input_schema: { type: 'object' } }];
    const given = {
      messages: signed,
      tools,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      max_tokens: 2000,
    };
    await anthropic('anthropic/everywhere', given);
    const bodies = ['bedrock', 'vertex'].map((what) => JSON.parse(seen(what)[0]?.body ?? '{}'));
    for (const body of bodies) {
      const { anthropic_version: _, ...rest } = body;
      expect(rest).toEqual(given);
    }
  });

  it('a client of another protocol is served by translation, streamed or whole', async () => {
    for (const stream of [false, true]) {
      await stage.clouds.set();
      const { status, text } = await stage.ask('/v1/chat/completions', {
        model: 'anthropic/everywhere',
        messages,
        stream,
      });
      expect([status, text]).toEqual([200, expect.stringContaining('世界')]);
      expect(seen('bedrock').map((one) => one.path.split('/').at(-1))).toEqual([
        stream ? 'invoke-with-response-stream' : 'invoke',
      ]);
    }
  });
});
