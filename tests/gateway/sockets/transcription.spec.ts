import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Event, RealtimeClient } from '#tests/gateway/sockets/realtime-client';
import { callsOf, closeBalanced } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';

const completed = 'conversation.item.input_audio_transcription.completed';

describe('a transcription session (contract: realtime/transcription)', () => {
  let stack: Stack;
  const clients: RealtimeClient[] = [];
  const open = async (key: string, query = 'intent=transcription&model=sandbox/scribe') => {
    const client = await RealtimeClient.open(stack.url, key, { query });
    clients.push(client);
    await client.await('session.created');
    return client;
  };
  const ownKey = async (workspace: object = {}, settings: object = {}) => {
    const made = await stack.workspace({ rpm: 10_000, ...workspace });
    return { ...made, key: (await stack.key(made.slug, settings)).key };
  };
  const rowsOf = async (id: string) => {
    const { rows } = await stack.db.pool.query<{ id: string }>(
      'SELECT id FROM call WHERE workspace_id = $1 ORDER BY id',
      [id],
    );
    return Promise.all(rows.map((row) => stack.call(row.id)));
  };
  /** Chooses a model, and waits for what the provider says to it. */
  const choose = async (client: RealtimeClient, transcription: Event) => {
    client.send({
      type: 'session.update',
      session: { type: 'transcription', audio: { input: { transcription, turn_detection: null } } },
    });
    const told = await client.await('session.updated');
    return record(record(record(record(told.session).audio).input).transcription);
  };
  const dictate = (client: RealtimeClient, ms: number) => {
    client.hear(ms);
    client.send({ type: 'input_audio_buffer.commit' });
  };
  const codesOf = (client: RealtimeClient) => client.ofType('error').map(({ error }) => record(error).code);

  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    for (const { socket } of clients) socket.terminate();
    await closeBalanced(stack);
  });

  it.each([
    ['its query says so', 'intent=transcription&model=sandbox/scribe'],
    ['its model only transcribes', 'model=sandbox/scribe'],
  ])('opens when %s, and each transcript is a call of its model', async (_when, query) => {
    const own = await ownKey();
    const client = await open(own.key, query);
    expect(record(client.ofType('session.created')[0]?.session).type).toBe('transcription');
    expect(await choose(client, { model: 'sandbox/scribe' })).toEqual({ model: 'scribe' });
    dictate(client, 2_000);
    await client.await(completed);
    dictate(client, 1_000);
    await client.await(completed, 2);
    await eventually(() => callsOf(stack, own.id), 2);
    const rows = await rowsOf(own.id);
    expect(rows.map(({ cost }) => cost)).toEqual(['0.0002', '0.0001']);
    expect(rows).toMatchObject([
      { requestedModel: 'sandbox/scribe', clientRequestId: client.id, lines: [{ quantity: 2_000 }] },
      { requestedModel: 'sandbox/scribe', clientRequestId: client.id, lines: [{ quantity: 1_000 }] },
    ]);
    expect(codesOf(client)).toEqual([]);
  });

  it('prices another model that is chosen in it as that one, and refuses one that the key may not use', async () => {
    const own = await ownKey({}, { models: ['sandbox/scribe', 'sandbox/listener'] });
    const client = await open(own.key);
    client.send({
      type: 'session.update',
      session: { type: 'transcription', audio: { input: { transcription: { model: 'sandbox/talker' } } } },
    });
    expect(record((await client.await('error')).error).code).toBe('model_not_allowed');
    expect(await choose(client, { model: 'sandbox/listener' })).toEqual({ model: 'listener' });
    dictate(client, 1_000);
    const { usage } = await client.await(completed);
    await eventually(() => callsOf(stack, own.id), 2);
    const [, row] = await rowsOf(own.id);
    const heard = BigInt(Number(record(usage).input_tokens));
    expect(heard).toBe(10n);
    expect(row?.lines).toMatchObject([{ class: 'audioInput:listener' }, { class: 'output:listener' }]);
    expect(row?.cost).toBe('0.0001');
  });

  it.each([
    ['no model', 'intent=transcription', /intent=transcription&model=MODEL/],
    ['a model that speaks', 'intent=transcription&model=sandbox/talker', /sandbox\/talker speaks/],
  ])('is refused with %s, and told what to put into the address', async (_what, query, message) => {
    const own = await ownKey();
    const address = `${stack.url.replace('http', 'ws')}/v1/realtime?${query}`;
    const body = await refusalOf(address, own.key);
    expect(body).toMatchObject({
      status: 400,
      code: 'invalid_body',
      message: expect.stringMatching(message),
    });
    await eventually(() => callsOf(stack, own.id), 1);
  });

  it('estimates a transcript without usage by the length of what was heard', async () => {
    const own = await ownKey();
    const client = await open(own.key);
    await choose(client, { model: 'sandbox/scribe', prompt: '[[fault/no-usage]]' });
    dictate(client, 4_000);
    await client.await(completed);
    await eventually(() => callsOf(stack, own.id), 1);
    expect(await rowsOf(own.id)).toMatchObject([
      {
        usageSource: 'estimated',
        cost: '0.0004',
        lines: expect.arrayContaining([expect.objectContaining({ class: 'audioMs', quantity: 4_000 })]),
      },
    ]);
  });

  it('passes no audio on without funds for its transcript, and ends with the reason', async () => {
    // A minute of audio is held ahead, which costs 0.006.
    const own = await ownKey({ credit: '0.005', strict: true });
    const client = await open(own.key);
    await choose(client, { model: 'sandbox/scribe' });
    client.hear(1_000);
    const [code, reason] = await client.closed;
    expect([code, reason]).toEqual([1008, expect.stringContaining('insufficient_balance')]);
    expect(client.ofType(completed)).toEqual([]);
  });

  it('holds more for audio that goes on, until its funds do not cover it', async () => {
    const own = await ownKey({ credit: '0.014', strict: true });
    const client = await open(own.key);
    await choose(client, { model: 'sandbox/scribe' });
    for (let minute = 0; minute < 4; minute += 1) client.hear(50_000);
    const [code] = await client.closed;
    expect(code).toBe(1008);
    expect(codesOf(client)).toContain('insufficient_balance');
  });

  it('two at once on funds for one: one is heard, the other ends', async () => {
    const own = await ownKey({ credit: '0.0075', strict: true });
    const both = await Promise.all([open(own.key), open(own.key)]);
    await Promise.all(
      both.map((client) => choose(client, { model: 'sandbox/scribe', prompt: '[[pace/50/20]]' })),
    );
    for (const client of both) dictate(client, 1_000);
    const ends = await Promise.all(
      both.map((client) => client.until(() => client.ofType(completed)[0] ?? client.ofType('error')[0])),
    );
    expect(ends.map(({ type }) => type).toSorted()).toEqual([completed, 'error']);
  });

  it('a client that leaves before its transcript has come is charged for it', async () => {
    const own = await ownKey();
    const client = await open(own.key);
    await choose(client, { model: 'sandbox/scribe', prompt: '[[pace/50/200]]' });
    dictate(client, 3_000);
    await client.await('input_audio_buffer.committed');
    client.socket.terminate();
    await eventually(() => callsOf(stack, own.id), 1);
    expect(await rowsOf(own.id)).toMatchObject([{ usageSource: 'reported', cost: '0.0003' }]);
  });

  it('stays open after frames that are no event, and after a request for a response', async () => {
    const own = await ownKey();
    const client = await open(own.key);
    client.socket.send(
      '{"type":"session.update","session":{"audio":{"input":{"transcription":{"model":1}}}}}',
    );
    expect(record((await client.await('error')).error).code).toBe('invalid_body');
    client.socket.send('{');
    expect(record((await client.await('error', 2)).error).code).toBe('invalid_body');
    client.send({ type: 'response.create' });
    await client.await('error', 3);
    await choose(client, { model: 'sandbox/scribe' });
    dictate(client, 1_000);
    await client.await(completed);
    await eventually(async () => (await rowsOf(own.id)).at(-1)?.cost, '0.0001');
  });
});

/** The HTTP answer to a handshake that is refused. */
async function refusalOf(address: string, key: string): Promise<object> {
  const { WebSocket } = await import('ws');
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${key}` } });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, answer) => {
      let body = '';
      answer.on('data', (piece) => {
        body += String(piece);
      });
      answer.on('end', () => {
        resolve({ status: answer.statusCode, ...record(record(JSON.parse(body)).error) });
      });
    });
  });
}
