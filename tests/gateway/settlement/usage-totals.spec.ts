import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { showUsage } from '#lib/control/operations/usage/operations';
import { bucketOf, Histogram } from '#lib/core/metering/histogram';
import { parseUsd } from '#lib/core/money';
import { expectBalancedBooks } from '#tests/support/books';
import { listCalls, operate } from '#tests/support/control/operate';
import { eventually, insist } from '#tests/support/eventually';
import { Client, type Told, type Wish } from '#tests/support/fleet/client';
import { random } from '#tests/support/limits/matrix';
import { type OwnStack, startStack } from '#tests/support/stack';

let stack: OwnStack;
let client: Client;
beforeAll(async () => {
  stack = await startStack();
  client = new Client(stack.url);
});
afterAll(async () => {
  client.close();
  await stack.close();
});

const wishes: readonly Wish[] = [
  {},
  { stream: true, directive: 'pace/10/20' },
  { directive: 'fault/slow-first-byte?ms=150' },
  { model: 'test/falls-back' },
  { directive: 'fault/status-500' },
  { directive: 'fault/status-400' },
  { model: 'no/such-model' },
  { model: 'test/drained', stream: true, directive: 'pace/10/60', leaveAfter: 5 },
  { stream: true, directive: 'pace/20/300' },
];

/** Four seconds of film: $0.40 when it is done. */
async function film(key: string): Promise<void> {
  // The load may take all of the workspace's places.
  const { id } = await insist(async () => {
    const answer = await fetch(`${stack.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sandbox/film',
        prompt: 'A film [[film?job_ms=0]]',
        seconds: '4',
        size: '720x1280',
      }),
    });
    const said = await answer.json();
    if (!answer.ok) throw new Error(JSON.stringify(said));
    return said;
  });
  const state = async () => {
    const seen = await fetch(`${stack.url}/v1/videos/${id}`, { headers: { authorization: `Bearer ${key}` } });
    return (await seen.json()).status;
  };
  await eventually(state, 'completed');
}

/** Everything in the log of a workspace. */
async function logged(slug: string) {
  const calls: Awaited<ReturnType<typeof listCalls>>['data'] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await listCalls(stack.db, slug, { limit: 500, ...(after ? { after } : {}) });
    calls.push(...page.data);
    after = page.next;
  }
  return calls;
}

it('the usage of a workspace is the sum of its calls, jobs and refusals, and stays so when its gateway is killed', async () => {
  const { slug } = await stack.workspace({ rpm: 100_000, tpm: null, concurrency: 60 });
  const limited = await stack.workspace({ rpm: 5 });
  const keys = await Promise.all([slug, slug, limited.slug].map((one) => stack.key(one)));
  const told: Promise<Told>[] = [];
  const drawn = random(1);
  const load = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      const key = keys[Math.floor(drawn() * keys.length)];
      told.push(client.call(key?.key ?? '', wishes[Math.floor(drawn() * wishes.length)]));
      await pause(5);
    }
  };
  await load(150);
  await film(keys[0]?.key ?? '');
  await load(30);
  await stack.kill('SIGKILL');
  await stack.start();
  await load(60);
  await film(keys[1]?.key ?? '');
  // With the last of those that ended well all others are in the log.
  const ended = (await Promise.all(told)).filter(({ status, whole }) => status === 200 && whole);
  await Promise.all(ended.map(({ id }) => stack.call(id)));

  await expectBalancedBooks(stack);
  for (const workspace of [slug, limited.slug]) {
    const calls = await logged(workspace);
    const report = await operate(stack.db, showUsage, { workspace, by: 'key' });
    const sum = (figure: (call: (typeof calls)[number]) => number) =>
      calls.reduce((all, call) => all + figure(call), 0);
    const failed = calls.filter(
      ({ status, endReason }) =>
        status >= 400 || ['upstream_error', 'timeout', 'interrupted'].includes(endReason),
    );
    expect(report.total).toMatchObject({
      calls: calls.length,
      errors: failed.length,
      refused: calls.filter(({ endReason }) => endReason === 'refused').length,
      attempts: sum(({ attempts }) => attempts.length),
      fallbacks: calls.filter(({ attempts }) => attempts.length > 1).length,
      inputTokens: sum(({ usage }) => usage.input),
      cachedTokens: sum(({ usage }) => usage.cachedInput),
      outputTokens: sum(({ usage }) => usage.output),
      reasoningTokens: sum(({ usage }) => usage.reasoning),
      videoSeconds: sum(({ usage }) => usage.videoSeconds),
    });
    expect(Object.values(report.total.errorsBy).reduce((all, one) => all + one, 0)).toBe(failed.length);
    expect(parseUsd(report.cost)).toBe(calls.reduce((all, { cost }) => all + parseUsd(cost), 0n));
    const measured = new Histogram();
    for (const { endReason, latencyMs } of calls)
      if (endReason !== 'refused' && endReason !== 'interrupted') measured.add(latencyMs);
    expect(report.total.latencyMs?.p95).toBe(measured.quantile(0.95));
    expect(bucketOf(report.total.latencyMs?.p50 ?? 0)).toBe(bucketOf(measured.quantile(0.5) ?? -1));
    expect(report.rows.reduce((all, { calls: of }) => all + of, 0)).toBe(calls.length);
  }
  const { total } = await operate(stack.db, showUsage, { workspace: slug });
  expect(total).toMatchObject({ videoSeconds: 8 });
  expect(total.errorsBy).toMatchObject({ client: expect.any(Number), provider: expect.any(Number) });
  expect(
    Math.min(total.refused, total.fallbacks, total.errorsBy.client, total.errorsBy.provider),
  ).toBeGreaterThan(0);
  const refused = await operate(stack.db, showUsage, { workspace: limited.slug });
  expect(refused.total.errorsBy.limit).toBeGreaterThan(0);
});
