import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publish } from '#lib/platform/data/change';
import { type CommandLine, commandLine } from '#tests/support/command';
import { setWorkspace } from '#tests/support/control/operate';
import { Client, codeOf } from '#tests/support/fleet/client';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

let stack: Stack;
let client: Client;
let command: CommandLine;
beforeAll(async () => {
  stack = await joinStack();
  client = new Client(stack.url);
  command = commandLine(stack.databaseUrl, { DATA_DIR: stack.dataDir });
});
afterAll(async () => {
  client.close();
  command.close();
  await stack.close();
});

async function ask(key: string): Promise<string> {
  const told = await client.call(key);
  return `${told.status} ${codeOf(told)}`.trim();
}

describe('a change by the command line while the server runs (contract: authentication/change-in-force)', () => {
  it('is in force at once: states of a key', async () => {
    const { slug } = await stack.workspace();
    const { id, key } = await stack.key(slug);
    await expect.poll(() => ask(key)).toBe('200');
    const steps = [
      ['disable', '403 apikey_inactive'],
      ['enable', '200'],
      ['exhaust', '402 quota_exceeded'],
      ['restore', '200'],
      ['disable', '403 apikey_inactive'],
      ['enable', '200'],
      ['revoke', '401 invalid_api_key'],
    ] as const;
    for (const [verb, expected] of steps) {
      expect(await command.run('key', verb, id)).toMatchObject({ exit: 0 });
      await expect.poll(() => ask(key), { message: `after ${verb}` }).toBe(expected);
    }
  });

  it('is in force at once: a new key, its models and the money', async () => {
    const { slug } = await stack.workspace({ credit: '0' });
    const { id, key } = await command.json<{ id: string; key: string }>(
      ...['key', 'create', '--workspace', slug, '--name', 'new'],
    );
    await expect.poll(() => ask(key)).toBe('402 insufficient_balance');
    await command.run('credit', 'add', slug, '5', '--reason', 'test');
    await expect.poll(() => ask(key)).toBe('200');
    await command.run('key', 'set', id, '--models', 'sandbox/mini');
    await expect.poll(() => ask(key)).toBe('400 model_not_allowed');
    await command.run('key', 'set', id, '--models', 'none');
    await expect.poll(() => ask(key)).toBe('200');
    await command.run('credit', 'add', slug, '-5', '--reason', 'test');
    await expect.poll(() => ask(key)).toBe('402 insufficient_balance');
  });
});

describe('a change by another machine', () => {
  it('is in force soon though its transaction began first and commits last', async () => {
    const { slug } = await stack.workspace();
    const other = await stack.workspace();
    const { id, key } = await stack.key(slug);
    const tookMs: number[] = [];
    for (const [status, expected] of [
      ['inactive', '403 apikey_inactive'],
      ['active', '200'],
      ['inactive', '403 apikey_inactive'],
    ] as const) {
      const before = await ask(key);
      expect(before).not.toBe(expected);
      const slow = await stack.db.pool.connect();
      await slow.query('BEGIN');
      await slow.query('UPDATE api_key SET status = $2 WHERE id = $1', [id, status]);
      // Another change begins later, commits first and is read by the feed.
      await setWorkspace(stack.db, { workspace: other.slug, rpm: 77 + tookMs.length });
      await stack.announce();
      expect(await ask(key)).toBe(before);
      await publish(slow, [{ kind: 'key', subject: id }]);
      await stack.announce();
      expect(await ask(key)).toBe(before);
      const committedMs = performance.now();
      await slow.query('COMMIT');
      slow.release();
      await expect.poll(() => ask(key), { interval: 20 }).toBe(expected);
      tookMs.push(Math.round(performance.now() - committedMs));
    }
    process.stdout.write(`late commits were in force after ${tookMs.join(', ')} ms\n`);
  });
});
