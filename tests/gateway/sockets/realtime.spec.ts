import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fairTalkNano, RealtimeClient } from '#tests/gateway/sockets/realtime-client';
import { callsOf, closeBalanced, costOf } from '#tests/support/books';
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
    expect(record(record(client.ofType('response.done')[1]?.response).usage).output_tokens).toBeGreaterThan(0);
  });
});
