import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createServer, type Server } from 'node:tls';
import OpenAI from 'openai';
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fairTalkNano, RealtimeClient } from '#tests/gateway/sockets/realtime-client';
import { callsOf, closeBalanced, costOf } from '#tests/support/books';
import { type Certificate, trustCertificate } from '#tests/support/certificate';
import { seenOf } from '#tests/support/chat-call';
import { expireKey } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';

describe('a session of the Realtime API (contract: realtime/session)', () => {
  let stack: Stack;
  const clients: RealtimeClient[] = [];
  type Options = Parameters<typeof RealtimeClient.open>[2];
  const open = async (key: string | null, options: Options = {}) => {
    const client = await RealtimeClient.open(stack.url, key, options);
    clients.push(client);
    return client;
  };
  const ownKey = async (workspace: object = {}, settings: object = {}) => {
    const made = await stack.workspace({ rpm: 10_000, ...workspace });
    return { ...made, key: (await stack.key(made.slug, settings)).key };
  };
  /** The rows of a workspace, oldest first. */
  const rowsOf = async (id: string) => {
    const { rows } = await stack.db.pool.query<{ id: string }>(
      'SELECT id FROM call WHERE workspace_id = $1 ORDER BY id',
      [id],
    );
    return Promise.all(rows.map((row) => stack.call(row.id)));
  };

  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    for (const { socket } of clients) socket.terminate();
    await closeBalanced(stack);
  });

  it('each response is a call with the id of the session, charged from its usage', async () => {
    const own = await ownKey();
    const client = await open(own.key);
    await client.await('session.created');
    client.ask();
    await client.await('response.done');
    client.ask({ response: { output_modalities: ['audio'] } });
    await client.await('response.done', 2);
    await eventually(() => callsOf(stack, own.id), 2);
    const rows = await rowsOf(own.id);
    expect(rows.map(costOf)).toEqual(client.ofType('response.done').map(fairTalkNano));
    expect(rows.map(({ clientRequestId }) => clientRequestId)).toEqual([client.id, client.id]);
    expect(rows.map(({ operation, status }) => [operation, status])).toEqual([
      ['realtime.create', 200],
      ['realtime.create', 200],
    ]);
    expect(record(record(client.ofType('response.done')[1]?.response).usage).output_tokens).toBeGreaterThan(
      0,
    );
  });

  /** They take no address without TLS. */
  describe('the official clients', () => {
    let certificate: Certificate;
    let secure: Server;
    let port = 0;
    beforeAll(async () => {
      certificate = trustCertificate(['localhost']);
      const { port: gatewayPort } = new URL(stack.url);
      secure = createServer(certificate, (client) => {
        const gateway = connect(Number(gatewayPort), '127.0.0.1');
        client.on('error', () => gateway.destroy()).pipe(gateway);
        gateway.on('error', () => client.destroy()).pipe(client);
      });
      secure.listen(0);
      await once(secure, 'listening');
      const address = secure.address();
      port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    });
    afterAll(() => {
      certificate.forget();
      secure.close();
    });

    it('talk through the gateway over their own WebSocket and over that of a browser', async () => {
      const own = await ownKey();
      const sdk = new OpenAI({
        baseURL: `https://localhost:${port}/v1`,
        apiKey: own.key,
        dangerouslyAllowBrowser: true,
      });
      for (const make of [
        () => new OpenAIRealtimeWS({ model: 'sandbox/talker' }, sdk),
        () => new OpenAIRealtimeWebSocket({ model: 'sandbox/talker' }, sdk),
      ]) {
        const talk = make();
        const text = await new Promise<string>((resolve, reject) => {
          let said = '';
          talk.on('error', reject);
          talk.on('session.created', () => {
            talk.send({
              type: 'conversation.item.create',
              item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello there' }] },
            });
            talk.send({ type: 'response.create', response: { output_modalities: ['text'] } });
          });
          talk.on('response.output_text.delta', ({ delta }) => {
            said += delta;
          });
          talk.on('response.done', () => resolve(said));
        });
        talk.close();
        expect(text).toBe('Hello there');
      }
      await eventually(() => callsOf(stack, own.id), 2);
    });

    it.each([
      ['a model', { model: 'sandbox/scribe' }],
      ['the intent and an address of its own', { intent: 'transcription' as const }],
    ])('transcribe with %s (contract: realtime/transcription)', async (_how, asked) => {
      const own = await ownKey();
      const sdk = new OpenAI({ baseURL: `https://localhost:${port}/v1`, apiKey: own.key });
      const address = `wss://localhost:${port}/v1/realtime?intent=transcription&model=sandbox/scribe`;
      const talk =
        'model' in asked
          ? new OpenAIRealtimeWS(asked, sdk)
          : new OpenAIRealtimeWS({ ...asked, buildRealtimeURL: () => new URL(address) }, sdk);
      const said = await new Promise<string>((resolve, reject) => {
        talk.on('error', reject);
        talk.on('session.created', () =>
          talk.send({
            type: 'session.update',
            session: {
              type: 'transcription',
              audio: { input: { transcription: { model: 'sandbox/scribe' }, turn_detection: null } },
            },
          }),
        );
        talk.on('session.updated', () => {
          talk.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(48_000, 1).toString('base64') });
          talk.send({ type: 'input_audio_buffer.commit' });
        });
        talk.on('conversation.item.input_audio_transcription.completed', ({ transcript }) =>
          resolve(transcript),
        );
      });
      talk.close();
      expect(said).toBe('Something was said.');
      await eventually(() => callsOf(stack, own.id), 1);
    });
  });

  describe('the handshake (contract: realtime/handshake)', () => {
    it('takes the key of a browser from its protocols, and sends none of them up', async () => {
      const own = await ownKey();
      const client = await open(null, {
        protocols: ['realtime', `openai-insecure-api-key.${own.key}`, 'openai-beta.realtime-v1'],
      });
      expect(client.socket.protocol).toBe('realtime');
      await client.await('session.created');
      const mark = client.ask();
      await client.await('response.done');
      const seen = await seenOf(stack, { mark });
      expect(JSON.stringify(seen)).not.toContain(own.key);
      expect(seen.headers['openai-beta']).toBe('realtime=v1');
      expect(seen.headers['sec-websocket-protocol']).toBe('realtime');
    });

    it.each([
      ['no key', null, 'sandbox/talker', 401],
      ['an unknown key', 'mg_unknown', 'sandbox/talker', 401],
      ['an unknown model', undefined, 'sandbox/none', 400],
      ['a model that does not talk', undefined, 'sandbox/echo', 400],
      ['no model', undefined, '', 400],
    ])('is refused by HTTP with %s', async (_why, given, model, status) => {
      const { key } = await ownKey();
      await expect(
        RealtimeClient.open(stack.url, given === undefined ? key : given, { model }),
      ).rejects.toThrow(`${status}`);
    });

    it('an HTTP request for a session is refused with 426', async () => {
      const { key } = await ownKey();
      const answer = await fetch(`${stack.url}/v1/realtime?model=sandbox/talker`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect([answer.status, record(record(await answer.json()).error).code]).toEqual([
        426,
        'method_not_allowed',
      ]);
    });

    it.each(['client_secrets', 'sessions', 'transcription_sessions', 'calls'])(
      '/v1/realtime/%s is not found, with the reason',
      async (path) => {
        const { key } = await ownKey();
        const answer = await fetch(`${stack.url}/v1/realtime/${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}` },
          body: '{}',
        });
        const error = record(record(await answer.json()).error);
        expect([answer.status, error.code]).toEqual([404, 'not_found']);
        expect(String(error.message)).toMatch(/connect a WebSocket/);
      },
    );

    it('a session takes one slot of concurrency, and its responses none', async () => {
      const own = await ownKey({}, { concurrency: 1 });
      const client = await open(own.key);
      await client.await('session.created');
      client.ask();
      await client.await('response.done');
      await expect(RealtimeClient.open(stack.url, own.key)).rejects.toThrow('429');
      await client.close();
      await eventually(async () => {
        const next = await RealtimeClient.open(stack.url, own.key).catch(() => null);
        next?.socket.terminate();
        return next !== null;
      }, true);
    });
  });

  describe('what is read of events (contract: realtime/read-events)', () => {
    it('a key’s maximum is written where no limit is named, and above it a limit is refused', async () => {
      const own = await ownKey({}, { maxOutputTokens: 20 });
      const client = await open(own.key);
      await client.await('session.created');
      client.send({
        type: 'session.update',
        event_id: 'mine',
        session: { type: 'realtime', max_output_tokens: 21 },
      });
      expect(record((await client.await('error')).error)).toMatchObject({
        code: 'max_output_tokens_exceeded',
        event_id: 'mine',
      });
      client.send({ type: 'session.update', session: { type: 'realtime', max_output_tokens: 'inf' } });
      expect(record((await client.await('session.updated')).session).max_output_tokens).toBe(20);
      const mark = client.ask({ directive: 'echo?tokens=90' });
      const done = await client.await('response.done');
      expect(record(record(done.response).usage).output_tokens).toBe(20);
      const asked = (await stack.sandbox.seen(mark)).map(({ body }) => body ?? '');
      expect(asked.length).toBeGreaterThan(0);
      // A limit that is called off, where the session has one.
      client.ask({ directive: 'echo?tokens=90', response: { max_output_tokens: 'inf' } });
      const called = await client.await('response.done', 2);
      expect(record(record(called.response).usage).output_tokens).toBe(20);
      client.send({ type: 'response.create', response: { max_output_tokens: 21 } });
      expect(record((await client.await('error', 2)).error).code).toBe('max_output_tokens_exceeded');
      expect(client.socket.readyState).toBe(1);
    });

    it('models are checked, named as the provider does, and that of a session stays', async () => {
      const own = await ownKey({}, { models: ['sandbox/talker', 'sandbox/scribe'] });
      const client = await open(own.key);
      await client.await('session.created');
      const transcribe = (model: string) =>
        client.send({
          type: 'session.update',
          session: { type: 'realtime', audio: { input: { transcription: { model } } } },
        });
      transcribe('sandbox/listener');
      expect(record((await client.await('error')).error).code).toBe('model_not_allowed');
      transcribe('sandbox/scribe');
      const { session } = await client.await('session.updated');
      expect(record(record(record(session).audio).input).transcription).toEqual({ model: 'scribe' });
      client.send({ type: 'session.update', session: { type: 'realtime', model: 'sandbox/scribe' } });
      expect(record((await client.await('error', 2)).error).message).toMatch(/keeps the model/);
      client.send({ type: 'session.update', session: { type: 'realtime', model: 'talker' } });
      await client.await('session.updated', 2);
    });

    it('transcripts are charged as their model is, each once', async () => {
      const own = await ownKey();
      const client = await open(own.key);
      await client.await('session.created');
      client.send({
        type: 'session.update',
        session: {
          type: 'realtime',
          audio: { input: { transcription: { model: 'sandbox/scribe' }, turn_detection: null } },
        },
      });
      await client.await('session.updated');
      client.hear(2_000);
      client.send({ type: 'input_audio_buffer.commit' });
      await client.await('conversation.item.input_audio_transcription.completed');
      await eventually(() => callsOf(stack, own.id), 1);
      const [row] = await rowsOf(own.id);
      expect(row?.lines).toMatchObject([{ class: 'audioMs:scribe', quantity: 2_000 }]);
      expect(row?.cost).not.toBe('0');
    });

    it.each([
      ['not JSON', '{'],
      ['a list', '[]'],
      ['a name twice', '{"type":"response.create","type":"x"}'],
      ['a limit of another type', '{"type":"response.create","response":{"max_output_tokens":"many"}}'],
      ['a response of another type', '{"type":"response.create","response":[]}'],
      ['a model of another type', '{"type":"session.update","session":{"model":1}}'],
    ])('%s is an error, and the session stays open', async (_what, frame) => {
      const client = await open((await ownKey()).key);
      await client.await('session.created');
      client.socket.send(frame);
      expect(record((await client.await('error')).error).code).toBe('invalid_body');
      client.ask();
      await client.await('response.done');
    });

    it('an event in a binary frame is read like any other', async () => {
      const own = await ownKey({}, { maxOutputTokens: 5 });
      const client = await open(own.key);
      await client.await('session.created');
      client.socket.send(Buffer.from('{"type":"response.create","response":{"max_output_tokens":6}}'));
      expect(record((await client.await('error')).error).code).toBe('max_output_tokens_exceeded');
      client.socket.send(Buffer.from('{"type":"response.create","type":"response.create"}'));
      expect(record((await client.await('error', 2)).error).code).toBe('invalid_body');
    });
  });

  describe('voice detection (contract: realtime/voice-detection)', () => {
    it('a response that the provider starts is a call like any other', async () => {
      const own = await ownKey();
      const client = await open(own.key);
      await client.await('session.created');
      for (let turn = 1; turn <= 2; turn += 1) {
        client.hear(500);
        client.hear(100, true);
        await client.await('response.done', turn);
      }
      await eventually(() => callsOf(stack, own.id), 2);
      expect((await rowsOf(own.id)).map(costOf)).toEqual(client.ofType('response.done').map(fairTalkNano));
      await client.close();
    });

    it('without funds for one, audio is not passed on, and the session ends with the reason', async () => {
      const own = await ownKey({ credit: '0.0001', strict: true });
      const client = await open(own.key);
      await client.await('session.created');
      client.hear(500);
      client.hear(100, true);
      const [code, reason] = await client.closed;
      expect(code).toBe(1008);
      expect(reason).toContain('insufficient_balance');
      expect(client.ofType('response.created')).toEqual([]);
      expect(client.ofType('error').map(({ error }) => record(error).code)).toContain('insufficient_balance');
    });
  });

  describe('money', () => {
    it('twenty responses race for a balance of three: the others are refused, and the books are right', async () => {
      // A response of 100 tokens may cost 0.0064 and what it reads.
      const own = await ownKey({ credit: '0.0205', strict: true });
      const racing = await Promise.all(Array.from({ length: 20 }, () => open(own.key)));
      await Promise.all(racing.map((client) => client.await('session.created')));
      for (const client of racing)
        client.ask({
          directive: 'pace/20/20',
          response: { max_output_tokens: 100, output_modalities: ['audio'] },
        });
      const ends = await Promise.all(
        racing.map((client) =>
          client.until(() => client.ofType('response.done')[0] ?? client.ofType('error')[0]),
        ),
      );
      const done = ends.filter(({ type }) => type === 'response.done');
      expect(done.length).toBeGreaterThan(0);
      expect(done.length).toBeLessThanOrEqual(3);
      for (const { error } of ends.filter(({ type }) => type === 'error'))
        expect(record(error).code).toBe('insufficient_balance');
      await eventually(() => callsOf(stack, own.id), 20);
      const rows = await rowsOf(own.id);
      const charged = rows.map(costOf).filter((cost) => cost > 0n);
      expect(charged.sort()).toEqual(done.map(fairTalkNano).sort());
    });

    it.each([
      ['fault/no-usage', 'estimated'],
      ['fault/null-usage', 'estimated'],
      ['fault/negative-usage', 'estimated'],
      ['fault/absurd-usage', 'reported'],
    ])('of a provider that reports %s the charge is %s and has a bound', async (directive, source) => {
      const own = await ownKey();
      const client = await open(own.key);
      await client.await('session.created');
      client.ask({ directive });
      await client.await('response.done');
      await eventually(() => callsOf(stack, own.id), 1);
      const [row] = await rowsOf(own.id);
      expect(row?.usageSource).toBe(source);
      expect(row && costOf(row)).toBeGreaterThan(0n);
      expect(row && costOf(row)).toBeLessThan(2_000_000_000n);
    });

    it.each(['unknown', 'twice'])('a response.done that lies is relayed and not charged: %s', async (lie) => {
      const own = await ownKey();
      const client = await open(own.key);
      await client.await('session.created');
      client.ask({ directive: `echo?lie=${lie}` });
      await client.await('response.done', 2);
      await eventually(() => callsOf(stack, own.id), 1);
      const [honest] =
        lie === 'unknown' ? client.ofType('response.done').slice(1) : client.ofType('response.done');
      expect((await rowsOf(own.id)).map(costOf)).toEqual([honest && fairTalkNano(honest)]);
    });

    it('a response that the provider refuses is free', async () => {
      const own = await ownKey();
      const client = await open(own.key);
      await client.await('session.created');
      client.ask({ directive: 'pace/20/20' });
      client.send({ type: 'response.create' });
      expect(record((await client.await('error')).error).code).toBe(
        'conversation_already_has_active_response',
      );
      await client.await('response.done');
      await eventually(() => callsOf(stack, own.id), 2);
      expect((await rowsOf(own.id)).filter(({ cost }) => cost !== '0')).toHaveLength(1);
    });

    it('a client that leaves is charged for what its response used until it was cancelled', async () => {
      const own = await ownKey();
      const client = await open(own.key);
      await client.await('session.created');
      client.ask({ directive: 'fault/endless?tokens=100000' });
      await client.await('response.output_text.delta', 5);
      client.socket.terminate();
      await eventually(() => callsOf(stack, own.id), 1);
      const [row] = await rowsOf(own.id);
      expect(row?.usageSource).toBe('reported');
      expect(row?.cost).not.toBe('0');
    });

    it('a provider that breaks off is charged as far as it came, and the client told', async () => {
      const own = await ownKey();
      const client = await open(own.key);
      await client.await('session.created');
      client.ask({ directive: 'fault/cut@6' });
      const [code, reason] = await client.closed;
      expect([code, reason]).toEqual([1011, expect.stringContaining('connect again')]);
      await eventually(() => callsOf(stack, own.id), 1);
      expect(await rowsOf(own.id)).toMatchObject([
        { usageSource: 'estimated', endReason: 'upstream_error', cost: expect.not.stringMatching(/^0$/) },
      ]);
    });
  });

  describe('the ends (contract: realtime/ends)', () => {
    it('a key that is revoked ends its session with the reason, and cancels what runs', async () => {
      const own = await stack.workspace();
      const made = await stack.key(own.slug);
      const client = await open(made.key);
      await client.await('session.created');
      client.ask({ directive: 'fault/endless?tokens=100000' });
      await client.await('response.output_text.delta', 3);
      await expireKey(stack.db, made.id);
      expect(await client.closed).toEqual([1008, expect.stringContaining('apikey_inactive')]);
      expect(record(client.ofType('response.done')[0]?.response).status).toBe('cancelled');
      await eventually(() => callsOf(stack, own.id), 1);
    });

    it('the codes of closes go both ways', async () => {
      const client = await open((await ownKey()).key);
      await client.await('session.created');
      expect(await client.close(4001, 'enough').then(() => client.closed)).toEqual([4001, 'enough']);
    });
  });

  describe('frames (contract: realtime/frames)', () => {
    it('of 32 MiB go up whole; binary ones that are no event are passed on both ways; pings are answered', async () => {
      const client = await open((await ownKey()).key);
      await client.await('session.created');
      const echoed = new Promise<Buffer>((resolve) => {
        client.socket.on('message', (data, isBinary) => {
          if (isBinary && Buffer.isBuffer(data)) resolve(data);
        });
      });
      const bytes = randomBytes(32 * 1024 * 1024 - 1024);
      client.socket.send(bytes.subarray(0, 1000), { fin: false });
      client.socket.send(bytes.subarray(1000), { fin: true });
      expect((await echoed).equals(bytes)).toBe(true);
      const pong = once(client.socket, 'pong');
      client.socket.ping('still here');
      expect(String((await pong)[0])).toBe('still here');
    });

    it('a client that does not read makes its provider wait', async () => {
      const client = await open((await ownKey()).key);
      await client.await('session.created');
      client.socket.pause();
      client.ask({
        response: { output_modalities: ['audio'], max_output_tokens: 4000 },
        directive: 'fault/endless',
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
      client.socket.resume();
      await client.await('response.done');
      expect(client.ofType('response.output_audio.delta').length).toBe(800);
    });
  });
});
