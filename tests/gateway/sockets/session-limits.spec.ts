import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SocketClient } from '#tests/gateway/sockets/client';
import { RealtimeClient } from '#tests/gateway/sockets/realtime-client';
import { setKey } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { type InProcess, startInProcess } from '#tests/support/in-process';
import { record } from '#tools/sandbox/content/tool-call';

describe('a session whose key may ask no more (contract: realtime/limits)', () => {
  let gateway: InProcess;
  beforeAll(async () => {
    gateway = await startInProcess({ still: true, socketsOfKey: 3 });
  });
  afterAll(() => gateway.close());

  const open = async (key: string) => {
    const client = await RealtimeClient.open(gateway.url, key);
    await client.await('session.created');
    return client;
  };
  const charges = async (keyId: string) => {
    const { rows } = await gateway.db.pool.query<{
      cost_nano: string;
      status: number;
      flags: string[] | null;
    }>('SELECT cost_nano, status, flags FROM call WHERE key_id = $1 ORDER BY id', [keyId]);
    return rows;
  };
  const codesOf = (client: RealtimeClient) => client.ofType('error').map(({ error }) => record(error).code);

  it.each([false, true])('is charged for a transcript in full (strict: %s)', async (strict) => {
    const own = await gateway.key({ rpm: 1 }, { strict });
    const client = await open(own.key);
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
    await eventually(async () => (await charges(own.id)).length, 1);
    expect(await charges(own.id)).toMatchObject([{ status: 200, cost_nano: '200000', flags: null }]);
    expect(codesOf(client)).toEqual([]);
    await client.close();
  });

  it('has a response that the provider starts all the same cancelled, and charged', async () => {
    const own = await gateway.key({ rpm: 2 });
    const client = await open(own.key);
    client.say('Say it [[fault/endless?tokens=100000]]');
    client.hear(500);
    await client.await('input_audio_buffer.speech_started');
    await setKey(gateway.db, { workspace: own.workspace, id: own.id, rpm: 1 });
    await gateway.pollNow();
    client.hear(100, true);
    const done = await client.await('response.done');
    expect(record(done.response).status).toBe('cancelled');
    await eventually(async () => (await charges(own.id)).length, 2);
    expect(await charges(own.id)).toMatchObject([
      { status: 429, cost_nano: '0' },
      { status: 200, cost_nano: expect.not.stringMatching(/^0$/) },
    ]);
    await client.close();
  });

  it('cannot have its audio passed on by an update that the provider refuses', async () => {
    const own = await gateway.key({ rpm: 1 });
    const client = await open(own.key);
    client.send({
      type: 'session.update',
      session: { type: 'realtime', max_output_tokens: 0, audio: { input: { turn_detection: null } } },
    });
    await client.await('error');
    client.hear(500);
    await client.await('error', 2);
    client.hear(100, true);
    client.say('Something else');
    await client.await('conversation.item.added');
    expect(codesOf(client)).toEqual(['invalid_value', 'api_key_rpm_exceeded']);
    expect(client.ofType('input_audio_buffer.speech_started')).toEqual([]);
    await client.close();
  });

  it('gets no more connections by handshakes at the same time, and its places back', async () => {
    for (const client of [RealtimeClient, SocketClient]) {
      const own = await gateway.key();
      const race = await Promise.allSettled(
        Array.from({ length: 12 }, () => client.open(gateway.url, own.key)),
      );
      const opened = race.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(opened).toHaveLength(3);
      for (const one of race) if (one.status === 'rejected') expect(String(one.reason)).toContain('429');
      await Promise.all(opened.map((one) => one.close()));
    }
    const own = await gateway.key();
    const refused = RealtimeClient.open(gateway.url, own.key, { model: 'sandbox/none' });
    await expect(refused).rejects.toThrow('400');
    const again = await Promise.all([open(own.key), open(own.key), open(own.key)]);
    await Promise.all(again.map((one) => one.close()));
  });

  it('ends when a response that was asked for does not begin in time', async () => {
    const own = await gateway.key();
    const client = await open(own.key);
    client.ask({ directive: 'echo?lie=silent' });
    await client.await('conversation.item.added');
    await eventually(() => gateway.heldNano() > 0n, true);
    gateway.pass(3_600);
    const [code] = await client.closed;
    expect([1000, 1011]).toContain(code);
    await eventually(async () => (await charges(own.id)).length, 1);
    expect(await charges(own.id)).toMatchObject([{ cost_nano: '0' }]);
    await eventually(() => gateway.heldNano(), 0n);
  });
});
