import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { observe } from '#tests/gateway/departures/depart';
import { askResponses, fairResponseNano } from '#tests/gateway/responses/call';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import { ask, bearer, jsonOf } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(async () => {
  await closeBalanced(stack);
});

async function own() {
  const { slug } = await stack.workspace({ rpm: 10_000 });
  return { slug, key: (await stack.key(slug)).key };
}

/** Leaves a stream as soon as it shows its id, though the provider keeps all of the answer. */
async function left(key: string, model = 'sandbox/echo', directive = 'pace/200/200') {
  let responseId = '';
  const leaveWhen = (raw: string) => {
    responseId = /"id":"(resp_[0-9a-f]+)"/.exec(raw)?.[1] ?? '';
    return responseId !== '';
  };
  const asked = await askResponses(stack.url, key, { model, stream: true, directive }, { leaveWhen });
  const call = await stack.call(asked.id);
  expect(call).toMatchObject({ endReason: 'client_gone', usageSource: 'estimated', adjustment: null });
  return { ...asked, call, responseId };
}

const retrieve = (key: string, responseId: string) =>
  ask(stack.url, 'GET', `/v1/responses/${responseId}`, bearer(key));

/** Ledger lines that adjust a call, nano-dollars. */
async function adjustmentsOf(callId: string): Promise<bigint[]> {
  const { rows } = await stack.db.pool.query<{ amount: string }>(
    `SELECT amount_nano::text AS amount FROM ledger_line WHERE kind = 'adjustment' AND ref = $1`,
    [callId],
  );
  return rows.map((row) => BigInt(row.amount));
}

describe('a stored response whose client left', () => {
  it('is charged the difference to what it used, once, however often it is retrieved', async () => {
    const { key } = await own();
    const { id, call, responseId } = await left(key);
    const answers = await Promise.all(Array.from({ length: 6 }, () => retrieve(key, responseId)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const fair = fairResponseNano({ usageReported: jsonOf(answers[0] as never).usage });
    expect(fair).toBeGreaterThan(200n * 4_000n);
    const estimate = costOf(call);
    expect(await linesOf(stack, id)).toEqual([-estimate]);
    expect(await adjustmentsOf(id)).toEqual([estimate - fair]);
    const settled = await stack.call(id);
    expect(costOf(settled)).toBe(fair);
    expect(settled).toMatchObject({ usageSource: 'reported', endReason: 'client_gone' });
    expect(settled.adjustment).not.toBeNull();
    await retrieve(key, responseId);
    expect(await adjustmentsOf(id)).toHaveLength(1);
  });

  it('is refunded what its estimate had overcharged', async () => {
    const { key } = await own();
    const model = 'test/thinks-instant';
    // At once: the offer then looks faster than it is.
    await observe(stack, key, model, 'echo?tokens=4000&reasoning=4000');
    const { id, call, responseId } = await left(key, model, 'pace/500/20?reasoning=20');
    expect((await retrieve(key, responseId)).status).toBe(200);
    const settled = await stack.call(id);
    expect(settled.usage).toMatchObject({ output: 40, reasoning: 20 });
    expect(costOf(settled)).toBe(BigInt(settled.usage.input) * 1_000n + 20n * 4_000n + 20n * 5_000n);
    expect(await adjustmentsOf(id)).toEqual([costOf(call) - costOf(settled)]);
  });

  it('changes nothing where its call was charged as reported', async () => {
    const { key } = await own();
    const asked = await askResponses(stack.url, key, { directive: 'echo?tokens=20' });
    const { id } = jsonOf(asked.answer);
    expect((await retrieve(key, String(id))).status).toBe(200);
    expect(await adjustmentsOf(asked.id)).toEqual([]);
    expect(await stack.call(asked.id)).toMatchObject({ adjustment: null });
  });
});
