import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { expectBalancedBooks } from '#tests/support/books';
import { readBooked, readLeft, readProvided } from '#tests/support/fleet/accounts';
import { checkpointsIn } from '#tests/support/fleet/checkpoints';
import { Client, codeOf, type Told, type Wish } from '#tests/support/fleet/client';
import { faultsIn } from '#tests/support/shared/faults';
import { type OwnStack, startStack } from '#tests/support/stack';

const wide = { rpm: 1_000_000, tpm: null, concurrency: null };
/** Three seconds of a stream. */
const long: Wish = { stream: true, directive: 'pace/30/100' };

let stack: OwnStack;
let client: Client;
beforeAll(async () => {
  stack = await startStack();
  client = new Client(stack.url);
});
beforeEach(async () => {
  // The test before ended it.
  if (stack.gateway().exitCode !== null) await stack.start();
});
afterAll(async () => {
  client.close();
  await stack.close();
});

/** Calls whose heads are here and whose bodies are on their way. */
async function startCalls(key: string, count: number, wish: Wish): Promise<Promise<Told>[]> {
  const headed: Promise<void>[] = [];
  const told = Array.from({ length: count }, () => {
    const head = Promise.withResolvers<void>();
    headed.push(head.promise);
    return client.ask(key, wish, head.resolve);
  });
  await Promise.all(headed);
  return told;
}

function statusOf(url: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { agent }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    });
    asked.once('error', reject);
  });
}

/** What the whole answer of a call says of its connection, which the client would keep. */
function connectionOf(url: string, key: string, directive: string): Promise<string | undefined> {
  const agent = new Agent({ keepAlive: true });
  const content = `Say something [[${directive}]]`;
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().once('end', () => resolve(answer.headers.connection));
    });
    sent.once('error', reject);
    sent.end(JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content }] }));
  });
}

/** Whether a new connection is refused. */
function isRefused(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => resolve(!socket.destroy()));
    socket.once('error', () => resolve(true));
  });
}

it('on SIGTERM no stream is cut, all settle, the leases go back, and the process ends with 0', async () => {
  const { slug } = await stack.workspace(wide);
  const low = await stack.workspace({ ...wide, credit: '0.60' });
  const [rich, poor] = await Promise.all([stack.key(slug, { dailyCap: '50' }), stack.key(low.slug)]);
  const running = [...(await startCalls(rich.key, 39, long)), ...(await startCalls(poor.key, 10, long))];
  // It stops no sooner than this one is released, however long the machine takes to ask it.
  const mark = randomUUID();
  const held = { stream: true, directive: `fault/stall@3?mark=${mark}` };
  running.push(...(await startCalls(rich.key, 1, held)));
  const left = client.call(rich.key, {
    model: 'test/drained',
    stream: true,
    directive: 'pace/30/100',
    leaveAfter: 3,
  });
  await left;
  expect((await readLeft(stack)).leases).toBeGreaterThan(0);

  const child = stack.gateway();
  const exited = once(child, 'exit');
  const stopMs = performance.now();
  child.kill('SIGTERM');
  const statuses: string[] = [];
  await expect
    .poll(
      async () => {
        const health = await fetch(`${stack.url}/api/health`);
        statuses.push(`${health.status} ${(await health.json()).status}`);
        return statuses.at(-1);
      },
      { interval: 5 },
    )
    .toBe('503 stopping');
  const late = await client.call(rich.key);
  expect(`${late.status} ${codeOf(late)}`).toBe('500 local_quota_not_configured');
  await stack.sandbox.release(mark);

  const told = await Promise.all(running);
  expect(await exited).toEqual([0, null]);
  const stoppedMs = Math.round(performance.now() - stopMs);
  process.stdout.write(`SIGTERM with 51 running streams: ended after ${stoppedMs} ms\n`);
  expect(faultsIn(stack.log())).toEqual([]);
  expect(await readLeft(stack)).toEqual({ holds: 0, leases: 0, owners: 0 });
  const booked = await readBooked(stack);
  const provided = await readProvided(stack);
  for (const one of [...told, await left]) {
    const [row] = booked.get(one.mark) ?? [];
    const [request] = provided.get(one.mark) ?? [];
    expect(request?.end?.end).toBe('completed');
    expect(row).toMatchObject({
      id: one.id,
      costNano: request?.fairNano,
      endReason: one.whole ? 'completed' : 'client_gone',
    });
  }
  expect(told.filter((one) => one.whole && one.text.includes('data: [DONE]'))).toHaveLength(50);
  await expectBalancedBooks(stack);
});

it('with a shutdown delay it accepts no connections, answers on those that are open, and ends when they are closed', async () => {
  const proxied = await startStack({ env: { SHUTDOWN_DELAY_SECONDS: '600', LOG_LEVEL: 'info' } });
  const ahead = new Client(proxied.url);
  const { slug } = await proxied.workspace(wide);
  const { key } = await proxied.key(slug);
  const head = Promise.withResolvers<void>();
  const streamed = ahead.ask(key, long, head.resolve);
  await head.promise;
  // Its head goes out after the signal.
  const whole = connectionOf(`${proxied.url}/v1/chat/completions`, key, 'fault/stall?ms=3000');
  // Four connections that are open and idle from then on, and one for health.
  await Promise.all(Array.from({ length: 4 }, () => ahead.call(key)));
  const health = new Agent({ keepAlive: true, maxSockets: 1 });
  expect(await statusOf(`${proxied.url}/api/health`, health)).toBe(200);

  const child = proxied.gateway();
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await expect.poll(() => isRefused(proxied.url), { interval: 5 }).toBe(true);
  const late = await Promise.all(Array.from({ length: 4 }, () => ahead.call(key)));
  expect(late.map((one) => one.status)).toEqual([200, 200, 200, 200]);
  expect(await statusOf(`${proxied.url}/api/health`, health)).toBe(503);
  expect((await streamed).whole).toBe(true);
  expect(await whole).toBe('close');
  // No client closes a connection: each answer did.
  expect(await exited).toEqual([0, null]);
  for (const line of ['stopping', 'draining: new calls are refused, running calls finish', 'stopped'])
    expect(proxied.log()).toContain(`"msg":"${line}"`);
  expect(await readLeft(proxied)).toEqual({ holds: 0, leases: 0, owners: 0 });
  await expectBalancedBooks(proxied);
  health.destroy();
  await proxied.close();
});

it('a second signal ends it at once, and the next start settles what it left', async () => {
  const { slug } = await stack.workspace(wide);
  const { key } = await stack.key(slug, { concurrency: 20 });
  const running = await startCalls(key, 20, { stream: true, directive: 'pace/100/1000' });
  await expect.poll(() => checkpointsIn(stack.dataDir)).toBeGreaterThanOrEqual(20);
  const child = stack.gateway();
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await expect.poll(async () => (await fetch(`${stack.url}/api/health`)).status, { interval: 5 }).toBe(503);
  expect(child.exitCode).toBe(null);
  child.kill('SIGINT');
  expect(await exited).toEqual([1, null]);
  const told = await Promise.all(running);
  expect(told.filter((one) => one.whole)).toEqual([]);

  await stack.start();
  await expectBalancedBooks(stack);
  expect(await readLeft(stack)).toEqual({ holds: 0, leases: 0, owners: 1 });
  const booked = await readBooked(stack);
  for (const one of told) {
    const [row] = booked.get(one.mark) ?? [];
    expect(row).toMatchObject({ id: one.id, endReason: 'interrupted', status: 200 });
    expect(row?.costNano).toBeGreaterThan(0n);
    expect(row?.costNano).toBeLessThanOrEqual(row?.holdNano ?? 0n);
  }
  const next = await Promise.all((await startCalls(key, 20, {})).map((one) => one));
  expect(next.map((one) => one.status)).toEqual(Array(20).fill(200));
});

it('ends though PostgreSQL does not answer, and the next start settles what was not posted', async () => {
  const { slug } = await stack.workspace(wide);
  const { key } = await stack.key(slug);
  expect((await client.ask(key)).status).toBe(200);
  stack.databaseProxy.freeze();
  const told = await client.call(key);
  expect(told).toMatchObject({ status: 200, whole: true });
  const child = stack.gateway();
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([1, null]);
  await expect.poll(() => stack.log()).toContain('the next start settles the calls in the journal');
  stack.databaseProxy.restore();

  await stack.start();
  const booked = await readBooked(stack);
  const provided = await readProvided(stack);
  expect(booked.get(told.mark)).toMatchObject([
    { id: told.id, endReason: 'completed', costNano: provided.get(told.mark)?.[0]?.fairNano },
  ]);
  await expectBalancedBooks(stack);
});
