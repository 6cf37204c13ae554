import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, codeOf } from '#tests/support/fleet/client';
import { type OwnStack, root, startStack } from '#tests/support/stack';

/** Preloaded into the gateway: signals provoke what nobody catches, outside every call. */
const provoke = `
  process.on('SIGUSR2', () => setImmediate(() => { throw new Error('provoked') }));
  process.on('SIGWINCH', () => { Promise.reject(new Error('a page let go')) });
  process.on('SIGCONT', () => {
    const error = new Error('ours');
    error.stack = 'Error: ours\\n    at poll (file://${root}lib/gateway/snapshot/changes.ts:1:1)';
    Promise.reject(error);
  });`;
const preload = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(provoke)}` };

let stack: OwnStack;
beforeAll(async () => {
  stack = await startStack({ console: true, env: preload });
});
afterAll(() => stack.close());

async function begin() {
  // The test before may have ended it.
  if (stack.gateway().exitCode !== null) await stack.start();
  const { slug } = await stack.workspace();
  const { key } = await stack.key(slug);
  const client = new Client(stack.url);
  const headed = Promise.withResolvers<void>();
  const mark = randomUUID();
  const wish = { stream: true, directive: `fault/stall@3?mark=${mark}` };
  const long = client.ask(key, wish, headed.resolve);
  await headed.promise;
  /** Has its provider go on to the end. */
  const release = () => stack.sandbox.release(mark);
  return { client, key, long, release };
}

describe('an error that nobody caught (contract: durability/stop)', { timeout: 180_000 }, () => {
  it('in a page that nobody waits for is logged, and calls continue', async () => {
    const { client, key, long, release } = await begin();
    stack.gateway().kill('SIGWINCH');
    await expect.poll(() => stack.log()).toContain('a page let go');
    await release();
    expect(await long).toMatchObject({ status: 200, whole: true });
    expect((await client.call(key)).status).toBe(200);
    client.close();
  });

  it.each([
    ['SIGUSR2', 'provoked'],
    ['SIGCONT', 'ours'],
  ] as const)('stops the gateway in order, with exit 1 (%s)', async (signal, reason) => {
    const { client, key, long, release } = await begin();
    const gateway = stack.gateway();
    const exited = once(gateway, 'exit');
    const before = stack.log().length;
    gateway.kill(signal);
    const said = () => stack.log().slice(before);
    await expect.poll(said).toContain('"level":60');
    await expect.poll(said).toContain(reason);
    const refused = await client.call(key);
    expect(`${refused.status} ${codeOf(refused)}`).toBe('500 local_quota_not_configured');
    await release();
    expect(await long).toMatchObject({ status: 200, whole: true });
    expect(await exited).toEqual([1, null]);
    const { rows } = await stack.db.pool.query(
      'SELECT (SELECT count(*)::int FROM lease) AS leases, (SELECT count(*)::int FROM owner) AS owners',
    );
    expect(rows).toEqual([{ leases: 0, owners: 0 }]);
    client.close();
  });
});
