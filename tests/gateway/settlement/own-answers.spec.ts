import { afterAll, beforeAll, expect, it } from 'vitest';
import { callRowOf } from '#lib/console/show/call-rows';
import { seriesOfUsage, showUsage } from '#lib/control/operations/usage/operations';
import { closeBalanced } from '#tests/support/books';
import { ask, bearer } from '#tests/support/chat-call';
import { listCalls, operate, setPolicy } from '#tests/support/control/operate';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const json = { 'content-type': 'application/json' };
let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(async () => {
  // The ledger and all sums of usage agree with the log.
  await closeBalanced(stack);
});

it('what the gateway answers itself is in the log as what it is, and in no figure (contract: call-log/own-answers)', async () => {
  const { slug } = await stack.workspace();
  const { key } = await stack.key(slug);
  const { key: slow } = await stack.key(slug, { rpm: 1 });
  await setPolicy(stack.db, { workspace: slug, policy: { translate: 'allow' } });
  const send = async (method: string, path: string, body?: object, as = key) => {
    const answer = await ask(
      stack.url,
      method,
      path,
      { ...json, ...bearer(as) },
      body === undefined ? undefined : JSON.stringify(body),
    );
    const id = headerOf(answer, 'x-request-id') ?? '';
    await stack.call(id);
    return { status: answer.status, id };
  };
  const messages = [{ role: 'user', content: 'Say something.' }];
  const [list, entry, missing, count, chat, wrong, refused] = [
    await send('GET', '/v1/models', undefined, slow),
    await send('GET', '/v1/models/sandbox/only-chat'),
    await send('GET', '/v1/models/no/such-model'),
    await send('POST', '/v1/messages/count_tokens', { model: 'sandbox/only-chat', messages }),
    await send('POST', '/v1/chat/completions', { model: 'sandbox/only-chat', messages, max_tokens: 5 }),
    await send('POST', '/v1/chat/completions', { model: 'no/such-model', messages }),
    await send('GET', '/v1/models', undefined, slow),
  ];
  expect([list, entry, missing, count, chat, wrong, refused].map(({ status }) => status)).toEqual([
    200, 200, 404, 200, 200, 400, 429,
  ]);

  const { total, rows } = await operate(stack.db, showUsage, { workspace: slug });
  expect(total).toMatchObject({ calls: 2, errors: 1, errorRate: 0.5, refused: 1, attempts: 1 });
  expect(rows.map(({ model, calls }) => [model, calls])).toEqual([
    ['sandbox/only-chat', 1],
    ['', 1],
  ]);
  for (const by of ['outcome', 'family', 'member'] as const) {
    const found = await operate(stack.db, seriesOfUsage, { workspace: slug, by });
    expect(found.total.calls, by).toBe(2);
  }

  const logged = async (filters: Record<string, string>) =>
    (await listCalls(stack.db, slug, filters)).data.map((call) => call.id).sort();
  expect(await logged({ usage: 'counted' })).toEqual([chat.id, wrong.id].sort());
  expect(await logged({ usage: 'not-counted' })).toEqual(
    [list.id, entry.id, missing.id, count.id, refused.id].sort(),
  );
  const place = { workspace: slug, timeZone: 'UTC', nowMs: Date.now() };
  const shown = (await listCalls(stack.db, slug, {})).data.map((call) => callRowOf(call, place));
  const rowOf = (id: string) => shown.find((row) => row.id === id);
  expect(rowOf(list.id)).toMatchObject({ requested: 'GET /v1/models', provider: 'answered by the gateway' });
  expect(rowOf(count.id)).toMatchObject({ provider: 'answered by the gateway' });
  expect(rowOf(chat.id)).toMatchObject({ requested: 'sandbox/only-chat', provider: 'sandbox' });
});
