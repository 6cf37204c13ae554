import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SocketClient } from '#tests/gateway/sockets/client';
import { RealtimeClient } from '#tests/gateway/sockets/realtime-client';
import { callsOf, expectBalancedBooks } from '#tests/support/books';
import { type OwnStack, startStack } from '#tests/support/stack';

let stack: OwnStack;
beforeAll(async () => {
  stack = await startStack({ console: true });
  // Once it serves a page, Next must not end the sockets of the gateway.
  await fetch(`${stack.url}/sign-in`);
});
afterAll(() => stack.close());

it('SIGTERM closes idle sockets at once and others behind their response (contract: sockets/socket-end)', async () => {
  const own = await stack.workspace();
  const { key } = await stack.key(own.slug);
  const [idle, busy] = await Promise.all([
    SocketClient.open(stack.url, key),
    SocketClient.open(stack.url, key),
  ]);
  busy.ask({ directive: 'pace/30/60' });
  await busy.until(() => busy.events.find(({ type }) => type === 'response.output_text.delta'));
  const gateway = stack.gateway();
  const ended = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  expect(await idle.closed).toEqual([1001, expect.stringContaining('stopping')]);
  expect(busy.events.some(({ type }) => type === 'response.completed')).toBe(false);
  expect(await busy.closed).toEqual([1001, expect.stringContaining('stopping')]);
  expect(busy.events.at(-1)).toMatchObject({ type: 'response.completed' });
  expect(await ended).toEqual([0, null]);
  await stack.start();
  await expectBalancedBooks(stack);
  expect(await callsOf(stack, own.id)).toBe(1);
});

it('kill -9 in the middle of a response: it is charged for what it sent, once', async () => {
  const own = await stack.workspace();
  const { key } = await stack.key(own.slug);
  const client = await SocketClient.open(stack.url, key);
  client.ask();
  await client.ended();
  client.ask({ directive: 'pace/50/200' });
  // Checkpoints of a running stream are a second apart; more of it passes than the two that a busy machine may need.
  await client.until(() => (client.frames.length > 120 ? true : undefined));
  await stack.kill('SIGKILL');
  await stack.start();
  await expectBalancedBooks(stack);
  const { rows } = await stack.db.pool.query<{ cost: string }>(
    'SELECT cost_nano::text AS cost FROM call WHERE workspace_id = $1',
    [own.id],
  );
  expect(rows).toHaveLength(2);
  for (const { cost } of rows) expect(BigInt(cost)).toBeGreaterThan(0n);
});

it('SIGTERM closes a session behind its response, with the reason (contract: realtime/ends)', async () => {
  const own = await stack.workspace();
  const { key } = await stack.key(own.slug);
  const [idle, busy] = await Promise.all([
    RealtimeClient.open(stack.url, key),
    RealtimeClient.open(stack.url, key),
  ]);
  busy.ask({ directive: 'pace/30/60' });
  await busy.await('response.output_text.delta');
  const gateway = stack.gateway();
  const ended = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  expect(await idle.closed).toEqual([1001, expect.stringContaining('stopping')]);
  expect(await busy.closed).toEqual([1001, expect.stringContaining('stopping')]);
  expect(busy.ofType('response.done')).toHaveLength(1);
  expect(await ended).toEqual([0, null]);
  await stack.start();
  await expectBalancedBooks(stack);
  expect(await callsOf(stack, own.id)).toBe(1);
});

it('kill -9 in the middle of a session: what was done is charged, once (contract: realtime/kept-books)', async () => {
  const own = await stack.workspace();
  const { key } = await stack.key(own.slug);
  const client = await RealtimeClient.open(stack.url, key);
  client.ask();
  await client.await('response.done');
  // Voice detection holds ahead for a response that never begins.
  client.hear(500);
  client.ask({ directive: 'pace/50/200' });
  await client.await('response.output_text.delta', 100);
  await stack.kill('SIGKILL');
  await stack.start();
  await expectBalancedBooks(stack);
  const { rows } = await stack.db.pool.query<{ cost: string }>(
    'SELECT cost_nano::text AS cost FROM call WHERE workspace_id = $1',
    [own.id],
  );
  expect(rows).toHaveLength(2);
  for (const { cost } of rows) expect(BigInt(cost)).toBeGreaterThan(0n);
});
