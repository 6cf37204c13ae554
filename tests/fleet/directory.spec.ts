import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectBalancedBooks } from '#tests/support/books';
import { readBooked } from '#tests/support/fleet/accounts';
import { Client } from '#tests/support/fleet/client';
import { freePort } from '#tests/support/run/free-port';
import { faultsIn } from '#tests/support/shared/faults';
import { type OwnStack, root, startStack } from '#tests/support/stack';

let stack: OwnStack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

it('a second server on one DATA_DIR refuses, names the first, and leaves its running calls alone', async () => {
  const { slug } = await stack.workspace();
  const { key } = await stack.key(slug);
  const client = new Client(stack.url);
  const headed = Promise.withResolvers<void>();
  const running = client.ask(key, { stream: true, directive: 'pace/30/150' }, headed.resolve);
  await headed.promise;
  const second = spawn(process.execPath, ['dist/server.js'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 200_000,
    env: { ...stack.environment, NODE_ENV: 'production', PORT: String(await freePort()) },
  });
  const [said] = await Promise.all([text(second.stderr), once(second, 'exit')]);
  expect(second.exitCode).toBe(1);
  expect(said).toBe(
    `DATA_DIR: ${stack.dataDir} is already in use by the server with process id ${stack.gateway().pid}. Stop it, or set another DATA_DIR.\n`,
  );
  const told = await running;
  client.close();
  expect(told.whole).toBe(true);
  expect(await stack.call(told.id)).toMatchObject({ endReason: 'completed', usageSource: 'reported' });
  expect((await readBooked(stack)).get(told.mark)).toHaveLength(1);
  await expectBalancedBooks(stack);
});

it('a server that was killed does not keep its DATA_DIR: a start waits for locks that it left, and then settles its calls (contract: durability/recovery)', async () => {
  const { slug } = await stack.workspace();
  const { key } = await stack.key(slug);
  const client = new Client(stack.url);
  const holder = await stack.db.pool.connect();
  await holder.query('BEGIN; LOCK TABLE journal_position IN EXCLUSIVE MODE');
  const told = await client.ask(key);
  expect(told.status).toBe(200);
  const before = stack.gateway().pid;
  await stack.kill('SIGKILL');
  const started = stack.start();
  const locked = 'the calls of a dead process are still locked: trying again';
  await expect.poll(() => stack.log()).toContain(locked);
  await holder.query('ROLLBACK');
  holder.release();
  await started;
  client.close();
  expect(stack.gateway().pid).not.toBe(before);
  expect(faultsIn(stack.log()).filter((line) => !line.includes(locked))).toEqual([]);
  expect((await readBooked(stack)).get(told.mark)).toHaveLength(1);
  await expectBalancedBooks(stack);
});
