import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '#tests/support/books';
import { askChat, bearer } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { freePort } from '#tests/support/run/free-port';
import { type OwnStack, root, startStack } from '#tests/support/stack';

let stack: OwnStack;
let url: string;
const hosts: ChildProcess[] = [];

/** A host that runs only Next. @returns its address. */
async function startHost(settings: Record<string, string> = {}): Promise<string> {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const program = join(root, 'node_modules/next/dist/bin/next');
  hosts.push(
    spawn(process.execPath, [program, 'start', '-p', String(port), '-H', '127.0.0.1'], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...stack.environment, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', ...settings },
    }),
  );
  for (let tries = 0; tries < 2_000; tries += 1) {
    const up = await fetch(`${address}/v1/nothing`).catch(() => null);
    if (up?.status === 404) return address;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the host did not come up');
}

beforeAll(async () => {
  stack = await startStack();
  url = await startHost();
});
afterAll(async () => {
  for (const host of hosts) {
    const ended = once(host, 'exit');
    if (host.exitCode === null && host.kill('SIGTERM')) await ended;
  }
  await stack.close();
});

describe('a host that runs only Next (contract: durability/settlement-modes)', () => {
  it('serves whole answers and streams, and has charged them when their last byte is here', async () => {
    const { slug } = await stack.workspace();
    const { key } = await stack.key(slug);
    for (const stream of [false, true]) {
      const { answer, id } = await askChat(url, key, { stream });
      expect(answer.status).toBe(200);
      // No wait: nothing is left to be posted.
      const { rows } = await stack.db.pool.query(
        'SELECT end_reason, cost_nano > 0 AS charged FROM call WHERE id = $1',
        [id],
      );
      expect(rows).toEqual([{ end_reason: 'completed', charged: true }]);
    }
    const left =
      'SELECT (SELECT count(*)::int FROM open_call) AS open, (SELECT count(*)::int FROM hold) AS holds';
    await eventually(async () => (await stack.db.pool.query(left)).rows[0], { open: 0, holds: 0 });
    await expectBalancedBooks(stack);
  });

  it('answers those who ask whether anything does, and no page', async () => {
    for (const target of ['/', '/api/hello']) {
      const { status, headers } = await fetch(`${url}${target}`, { method: 'HEAD', redirect: 'manual' });
      expect([status, headers.get('location')]).toEqual([200, null]);
    }
  });

  it('refuses what server.ts refuses', async () => {
    const poor = await stack.workspace({ credit: '0' });
    const { key } = await stack.key(poor.slug);
    expect((await askChat(url, key, {})).answer.status).toBe(402);
    const unknown = await fetch(`${url}/v1/models`, { headers: bearer(`mg_${'x'.repeat(49)}`) });
    expect(unknown.status).toBe(401);
  });

  it("refuses calls with a secret that is not the database's (contract: authentication/resolver)", async () => {
    const { key } = await stack.key((await stack.workspace()).slug);
    const other = await startHost({ KEY_PEPPER: 'f'.repeat(64), LOG_LEVEL: 'silent' });
    const { answer } = await askChat(other, key, {});
    expect(answer.status).toBe(500);
    expect(answer.body.toString()).toContain('resolver_not_configured');
  });
});
