import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fairResponseNano } from '#tests/gateway/responses/call';
import { SocketClient } from '#tests/gateway/sockets/client';
import { callsOf, closeBalanced, costOf } from '#tests/support/books';
import { receivedOf, seenOf } from '#tests/support/chat-call';
import { expireKey } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { requestText } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

describe('Responses over a WebSocket (contract: sockets/one-call-each)', () => {
  let stack: Stack;
  let workspace: { id: string; slug: string };
  let key: string;
  const clients: SocketClient[] = [];
  const open = async (secret = key, ...options: [headers?: Record<string, string>]) => {
    const [headers = {}] = options;
    const client = await SocketClient.open(stack.url, secret, { headers });
    clients.push(client);
    return client;
  };
  /** The rows of a workspace, oldest first. */
  const rowsOf = async (id: string) => {
    const { rows } = await stack.db.pool.query<{ id: string }>(
      'SELECT id FROM call WHERE workspace_id = $1 ORDER BY id',
      [id],
    );
    return Promise.all(rows.map((row) => stack.call(row.id)));
  };
  const ownKey = async (settings: object = {}) => {
    const made = await stack.workspace(settings);
    return { ...made, key: (await stack.key(made.slug)).key };
  };
  const responseOf = (event: Readonly<Record<string, unknown>>) => record(event.response);
  const errorOf = (event: Readonly<Record<string, unknown>>) => record(event.error);

  beforeAll(async () => {
    stack = await joinStack();
    workspace = await stack.workspace({ rpm: 10_000 });
    key = (await stack.key(workspace.slug)).key;
  });
  afterAll(async () => {
    for (const { socket } of clients) socket.terminate();
    await closeBalanced(stack);
  });

  it('the official client has two responses on one connection, each its own call and charge', async () => {
    const own = await ownKey();
    const sdk = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: own.key });
    const socket = new ResponsesWS(sdk);
    const responses: OpenAI.Responses.Response[] = [];
    socket.on('response.completed', ({ response }) => {
      responses.push(response);
      if (responses.length === 2) return socket.close();
      socket.send({
        type: 'response.create',
        model: 'sandbox/echo',
        input: 'Again',
        previous_response_id: response.id,
      });
    });
    const closed = new Promise((resolve, reject) => {
      socket.on('close', resolve);
      socket.on('error', reject);
    });
    // Sent once it is open.
    socket.send({ type: 'response.create', model: 'sandbox/echo', input: 'Once' });
    await closed;
    expect(responses.map(({ status }) => status)).toEqual(['completed', 'completed']);
    await eventually(() => callsOf(stack, own.id), 2);
    const rows = await rowsOf(own.id);
    expect(rows.map(costOf)).toEqual(
      responses.map(({ usage }) => fairResponseNano({ usageReported: JSON.parse(JSON.stringify(usage)) })),
    );
    expect(rows.map(({ operation, streamed, status }) => [operation, streamed, status])).toEqual([
      ['responses.create', true, 200],
      ['responses.create', true, 200],
    ]);
  });

  it('the provider gets the client’s own bytes, without what belongs to the event and its connection', async () => {
    const client = await open(key, {
      'OpenAI-Beta': 'responses_websockets=2026-02-06,other=1',
      'Idempotency-Key': 'one',
    });
    const mark = client.ask({
      stream_id: 'a',
      generate: true,
      stream: false,
      metadata: { big: '1' },
      temperature: 1,
    });
    await client.ended();
    const seen = await seenOf(stack, { mark });
    expect(JSON.parse(seen.body ?? '')).toEqual({
      stream: true,
      model: expect.any(String),
      input: expect.stringContaining(mark),
      metadata: { big: '1' },
      temperature: 1,
    });
    expect(seen.headers).toMatchObject({ 'openai-beta': 'other=1', 'content-type': 'application/json' });
    expect(
      Object.keys(seen.headers).filter((name) => /^(upgrade|sec-websocket|idempotency)/.test(name)),
    ).toEqual([]);
    expect(client.events.every(({ stream_id }) => stream_id === 'a')).toBe(true);
    expect(client.events.map(({ sequence_number }) => sequence_number)).toEqual(
      client.events.map((_, at) => at),
    );
    await client.close();
  });

  it('its events are those of the stream of the same request by HTTP', async () => {
    const client = await open();
    client.ask({ input: 'The same' });
    await client.ended();
    const answer = await fetch(`${stack.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox/echo', input: 'The same', stream: true }),
    });
    const shape = (data: string) => data.replaceAll(/(resp|msg)_\w+|"created_at":\d+/g, '');
    const data = [...(await answer.text()).matchAll(/^data: (.*)$/gm)].map(([, text = '']) => shape(text));
    expect(client.frames.map(shape)).toEqual(data);
    await client.close();
  });

  describe('a response that is continued (contract: sockets/continuation)', () => {
    it('if its provider does not store it, its items come before the new input', async () => {
      const client = await open();
      const first = client.ask({ store: false, input: 'One thing' });
      expect(first).not.toBe('');
      const before = responseOf(await client.ended());
      const mark = client.ask({ store: false, previous_response_id: before.id });
      await client.ended(2);
      const received = await receivedOf(stack, { mark });
      expect(received).not.toHaveProperty('previous_response_id');
      expect(received.input).toEqual([
        { type: 'message', role: 'user', content: 'One thing' },
        ...(Array.isArray(before.output) ? before.output : []),
        { type: 'message', role: 'user', content: expect.stringContaining(mark) },
      ]);
      client.ask({ previous_response_id: before.id });
      // Only the newest response of the lane is kept.
      expect(errorOf(await client.ended(3))).toMatchObject({ code: 'previous_response_not_found' });
      await client.close();
    });

    it('a warm-up costs nothing and reaches no provider (contract: sockets/warm-up)', async () => {
      const own = await ownKey();
      const client = await open(own.key);
      const warm = client.ask({
        store: false,
        generate: false,
        input: [{ role: 'user', content: 'Before' }],
      });
      const ready = responseOf(await client.ended());
      expect(ready).toMatchObject({ status: 'completed', output: [], usage: { total_tokens: 0 } });
      expect(await stack.sandbox.seen(warm)).toEqual([]);
      const mark = client.ask({ store: false, previous_response_id: ready.id, input: [] });
      await client.ended(2);
      await eventually(() => callsOf(stack, own.id), 2);
      expect((await rowsOf(own.id)).map(({ cost, attempts }) => [cost, attempts.length])).toEqual([
        ['0', 0],
        [expect.not.stringMatching(/^0$/), 1],
      ]);
      expect(mark).not.toBe('');
      await client.close();
    });

    it('not by another workspace, nor on another connection if it is not stored', async () => {
      const client = await open();
      client.ask();
      const stored = responseOf(await client.ended());
      client.ask({ store: false });
      const local = responseOf(await client.ended(2));
      const stranger = await open((await ownKey()).key);
      stranger.ask({ previous_response_id: stored.id });
      const hidden = await stranger.ended();
      const other = await open();
      other.ask({ previous_response_id: local.id });
      const missing = await other.ended();
      for (const event of [hidden, missing]) {
        expect(event).toMatchObject({
          status: 400,
          error: { code: 'previous_response_not_found', param: 'previous_response_id' },
        });
      }
      expect(errorOf(hidden).message).not.toContain(String(stored.id));
    });
  });

  it('lanes run at the same time, and each in its order (contract: sockets/lanes)', async () => {
    const client = await open();
    const slow = client.ask({ stream_id: 'slow', directive: 'pace/20/30' });
    client.ask({ stream_id: 'slow' });
    client.ask({ stream_id: 'quick' });
    await client.ended(3);
    const ended = client.events.filter(({ type }) => type === 'response.completed');
    expect(ended.map(({ stream_id }) => stream_id)).toEqual(['quick', 'slow', 'slow']);
    expect(JSON.stringify(ended[1])).toContain(slow);
    for (let lane = 0; lane < 31; lane += 1) client.ask({ stream_id: `lane-${lane}`, generate: false });
    await client.ended(34);
    expect(client.events.filter(({ type }) => type === 'error')).toMatchObject([
      { stream_id: 'lane-30', error: { code: 'websocket_stream_limit_reached' } },
    ]);
    await client.close();
  });

  describe('what is refused (contract: sockets/socket-errors)', () => {
    it('is an event with the code of the table, and the connection stays open', async () => {
      const own = await ownKey();
      const client = await open(own.key);
      client.ask({ model: 'sandbox/none' });
      const refused = await client.ended();
      expect(refused).toMatchObject({
        status: 400,
        error: { type: 'invalid_request_error', code: 'model_not_allowed' },
        headers: { 'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/), 'x-should-retry': 'false' },
      });
      const id = String(record(refused.headers)['x-request-id']);
      expect(await stack.call(id)).toMatchObject({ status: 400, errorCode: 'model_not_allowed', cost: '0' });
      client.ask({ directive: 'fault/status-429' });
      expect(await client.ended(2)).toMatchObject({ status: 429, error: { code: 'rate_limit_exceeded' } });
      client.ask();
      expect(await client.ended(3)).toMatchObject({ type: 'response.completed' });
    });

    it.each([
      ['not JSON', '{', 'invalid_body'],
      ['no object', '[]', 'invalid_body'],
      ['no type', '{}', 'invalid_body'],
      ['a name twice', '{"type":"response.create","type":"response.create"}', 'invalid_body'],
      ['another event', '{"type":"session.update"}', 'invalid_body'],
      ['a wrong stream', '{"type":"response.create","stream_id":"a b"}', 'invalid_stream_id'],
      ['a wrong flag', '{"type":"response.create","generate":1}', 'invalid_body'],
      ['in the background', '{"type":"response.create","background":true}', 'invalid_body'],
      ['no model', '{"type":"response.create"}', 'invalid_body'],
      [
        'a wrong id',
        '{"type":"response.create","model":"sandbox/echo","previous_response_id":1}',
        'invalid_body',
      ],
      [
        'steering',
        '{"type":"response.steer","previous_response_id":"a","input":"b"}',
        'steering_not_supported',
      ],
    ])('%s', async (_what, frame, code) => {
      const client = await open();
      client.socket.send(frame);
      expect(errorOf(await client.ended()).code).toBe(code);
      await client.close();
    });

    it('a binary frame; what Codex says beside its requests is accepted', async () => {
      const client = await open();
      client.socket.send(Buffer.from('{"type":"response.create"}'));
      expect(errorOf(await client.ended()).code).toBe('invalid_body');
      client.socket.send('{"type":"response.processed","response_id":"a"}');
      client.ask();
      expect(await client.ended(2)).toMatchObject({ type: 'response.completed' });
    });

    it('without funds, by each request, while 20 of them race for the rest', async () => {
      const own = await ownKey({ credit: '0.002' });
      const client = await open(own.key);
      for (let at = 0; at < 20; at += 1) client.ask({ stream_id: `lane-${at}`, max_output_tokens: 100 });
      await client.ended(20);
      const refused = client.events.filter(({ type }) => type === 'error');
      expect(refused.length).toBeGreaterThan(0);
      for (const event of refused)
        expect(event).toMatchObject({ status: 402, error: { code: 'insufficient_balance' } });
      await eventually(() => callsOf(stack, own.id), 20);
    });
  });

  it.each(['sandbox/only-chat', 'sandbox/only-messages'])(
    'a model that speaks another protocol is translated: %s (contract: translation/when)',
    async (model) => {
      const client = await open();
      client.ask({ model, store: false, input: 'The first thing' });
      const first = responseOf(await client.ended());
      expect(first.status).toBe('completed');
      const mark = client.ask({ model, store: false, previous_response_id: first.id });
      expect(responseOf(await client.ended(2)).status).toBe('completed');
      expect(JSON.stringify((await receivedOf(stack, { mark })).messages)).toContain('The first thing');
      await client.close();
    },
  );

  it.each(['fault/cut@3', 'fault/error-event@3'])(
    'a stream that breaks ends as failed: %s',
    async (directive) => {
      const client = await open();
      client.ask({ directive });
      const end = await client.ended();
      expect(['error', 'response.failed']).toContain(end.type);
      client.ask({ generate: false });
      await client.until(() => client.events.find(({ type }) => type === 'response.completed'));
      await client.close();
    },
  );

  it('a client that leaves is charged as one of a stream (contract: money/drain)', async () => {
    const own = await ownKey();
    const client = await open(own.key);
    client.ask({ directive: 'pace/20/40' });
    await client.until(() => client.events.find(({ type }) => type === 'response.output_text.delta'));
    client.socket.terminate();
    await eventually(() => callsOf(stack, own.id), 1);
    expect(await rowsOf(own.id)).toMatchObject([
      { usageSource: 'estimated', endReason: 'client_gone', cost: expect.not.stringMatching(/^0$/) },
    ]);
  });

  describe('frames', () => {
    it('in fragments, with pings between them, are one message; a ping is answered with its own bytes', async () => {
      const client = await open();
      const pongs: string[] = [];
      client.socket.on('pong', (data) => pongs.push(String(data)));
      const event = JSON.stringify({ type: 'response.create', model: 'sandbox/echo', input: 'é'.repeat(40) });
      const bytes = Buffer.from(event);
      // A cut inside a character.
      const at = bytes.indexOf('é') + 1;
      client.socket.send(bytes.subarray(0, at), { fin: false, binary: false });
      client.socket.ping('one');
      client.socket.send(bytes.subarray(at), { fin: true, binary: false });
      expect(JSON.stringify(await client.ended())).toContain('é'.repeat(40));
      expect(pongs).toEqual(['one']);
      await client.close();
    });

    it('a close is answered with its own code', async () => {
      const client = await open();
      client.socket.close(4321, 'Enough');
      expect(await client.closed).toEqual([4321, 'Enough']);
    });

    it('without a mask break the protocol: 1002; text that is not UTF-8: 1007; a message over the limit: 1009', async () => {
      const bare = await open();
      bare.socket.send('{}', { mask: false });
      expect(await bare.closed).toMatchObject([1002, '']);
      const wrong = await open();
      wrong.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
      expect(await wrong.closed).toMatchObject([1007, '']);
      const large = await open();
      large.socket.send('x'.repeat(33 * 1024 * 1024));
      expect((await large.closed)[0]).toBe(1009);
    });

    it('of random bytes close the connection and nothing else', async () => {
      const { hostname, port } = new URL(stack.url);
      const handshake = requestText('GET', '/v1/responses', {
        authorization: `Bearer ${key}`,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': `${'a'.repeat(22)}==`,
      });
      const closedBy = (garbage: Buffer) =>
        new Promise<boolean>((resolve) => {
          const socket = connect(Number(port), hostname);
          let head = '';
          socket.on('data', (bytes) => {
            if (head === '') socket.end(garbage);
            head += bytes.toString('latin1');
          });
          socket.on('error', () => {});
          socket.on('close', () => resolve(head.startsWith('HTTP/1.1 101')));
          socket.write(handshake);
        });
      const blobs = Array.from({ length: 50 }, (_, at) => randomBytes(1 + ((at * 37) % 2_000)));
      expect(await Promise.all(blobs.map(closedBy))).toEqual(blobs.map(() => true));
      const client = await open();
      client.ask();
      expect(await client.ended()).toMatchObject({ type: 'response.completed' });
      await client.close();
    });

    it('of 8 MB arrive whole', async () => {
      const client = await open();
      const mark = client.ask({ instructions: 'x'.repeat(8_000_000), max_output_tokens: 5 });
      await client.ended();
      expect((await seenOf(stack, { mark })).bodyBytes).toBeGreaterThan(8_000_000);
      await client.close();
    });
  });

  describe('a handshake (contract: sockets/handshake)', () => {
    const refusedWith = async (secret: string, url = stack.url) => {
      const error = await SocketClient.open(url, secret).then(
        () => null,
        (reason: unknown) => reason,
      );
      return String(error);
    };

    it('needs a valid key, and is refused as a call', async () => {
      expect(await refusedWith(`mg_${'a'.repeat(49)}`)).toContain('401');
      const own = await stack.workspace();
      const expired = await stack.key(own.slug);
      await expireKey(stack.db, expired.id);
      await stack.announce();
      expect(await refusedWith(expired.key)).toContain('403');
      await eventually(() => callsOf(stack, own.id), 1);
      expect(await rowsOf(own.id)).toMatchObject([{ status: 403, operation: 'responses.create' }]);
    });

    it('has its own request id, and takes no call', async () => {
      const own = await ownKey();
      const client = await open(own.key);
      expect(client.socket.protocol).toBe('');
      expect(client.socket.extensions).toBe('');
      await client.close();
      expect(await callsOf(stack, own.id)).toBe(0);
    });

    it('a key that ends closes its connection, with the reason (contract: sockets/socket-end)', async () => {
      const own = await stack.workspace();
      const made = await stack.key(own.slug);
      const client = await open(made.key);
      await expireKey(stack.db, made.id);
      await stack.announce();
      expect(await client.closed).toEqual([1008, expect.stringContaining('apikey_inactive')]);
    });
  });
});
