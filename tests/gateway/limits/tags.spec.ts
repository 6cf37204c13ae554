import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCalls, showCall } from '#lib/control/operations/call/operations';
import {
  createTagBudget,
  deleteTagBudget,
  listTagBudgets,
  setTagBudget,
  showTagSpend,
} from '#lib/control/operations/tag-budget/operations';
import { usageByTag } from '#lib/control/operations/usage/tags';
import { closeBalanced } from '#tests/support/books';
import { ask } from '#tests/support/chat-call';
import { listKeys, operate, setWorkspace } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(() => closeBalanced(stack));

type Switches = { tags?: boolean; endUsers?: boolean };

async function open(switches: Switches = { tags: true, endUsers: true }) {
  const { slug } = await stack.workspace();
  await setWorkspace(stack.db, { workspace: slug, ...switches });
  const { key } = await stack.key(slug);
  return { slug, key };
}

/** One call, with $0.002 and some of output. @param more fields of the body. */
async function send(key: string, more: Record<string, unknown> = {}, tags?: string) {
  const body = {
    model: 'sandbox/echo',
    max_tokens: 500,
    messages: [{ role: 'user', content: '[[fault/slow-first-byte?ms=1&tokens=500]]' }],
    ...more,
  };
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...(tags !== undefined && { 'x-gateway-tags': tags }),
  };
  const answer = await ask(stack.url, 'POST', '/v1/chat/completions', headers, JSON.stringify(body));
  const id = headerOf(answer, 'x-request-id') ?? '';
  const { error } = answer.status === 200 ? { error: null } : JSON.parse(answer.body.toString());
  return { id, status: answer.status, code: error?.code ?? null, message: String(error?.message ?? '') };
}

const logged = async (id: string) => {
  await stack.call(id);
  const { endUser, tags } = await operate(stack.db, showCall, { id });
  return { endUser, tags };
};

/** Budgets reach the processes by the change feed. */
async function budget(slug: string, given: Record<string, unknown>) {
  const { id } = await operate(stack.db, createTagBudget, { workspace: slug, ...given });
  return id;
}

describe('what calls were for (contract: tags/log)', () => {
  it('is in the log of a workspace that has it recorded, and finds its calls', async () => {
    const { slug, key } = await open();
    const one = await send(key, { user: 'u1', metadata: { plan: 'pro' } }, 'feature=search, tenant=acme');
    const other = await send(key, { user: 'u2' }, 'feature=chat');
    expect(await logged(one.id)).toEqual({
      endUser: 'u1',
      tags: { feature: 'search', plan: 'pro', tenant: 'acme' },
    });
    expect(await logged(other.id)).toEqual({ endUser: 'u2', tags: { feature: 'chat' } });
    const found = async (filters: Record<string, unknown>) =>
      (await operate(stack.db, listCalls, { workspace: slug, ...filters })).data.map(({ id }) => id);
    expect(await found({ tag: 'feature=search' })).toEqual([one.id]);
    expect(await found({ tag: 'feature' })).toEqual([other.id, one.id]);
    expect(await found({ endUser: 'u2' })).toEqual([other.id]);
    expect(await found({ tag: '@end-user' })).toEqual([]);
    const elsewhere = await open();
    expect((await operate(stack.db, listCalls, { workspace: elsewhere.slug, endUser: 'u2' })).data).toEqual(
      [],
    );
  });

  it('is neither read nor checked while it is off, and the header never reaches a provider', async () => {
    const { key } = await open({});
    const call = await send(key, { user: 'u1' }, 'not a tag');
    expect(call.status).toBe(200);
    expect(await logged(call.id)).toEqual({ endUser: null, tags: {} });
    expect(await stack.sandbox.seen('x-gateway-tags')).toEqual([]);
  });

  it('is refused with 400 if it is not well-formed, and the refusal says where', async () => {
    const { key } = await open();
    const call = await send(key, {}, 'feature');
    expect(call).toMatchObject({ status: 400, code: 'invalid_body' });
    expect(call.message).toContain('X-Gateway-Tags');
  });
});

describe('usage by tag (contract: tags/usage)', () => {
  it('adds up the calls of each end user, the most expensive first, and all others together', async () => {
    const { slug, key } = await open();
    for (const user of ['u1', 'u1', 'u1', 'u2', 'u2', 'u3']) await logged((await send(key, { user })).id);
    const usage = await operate(stack.db, usageByTag, { workspace: slug, limit: 1 });
    expect(usage.tag).toBeNull();
    expect(usage.data).toMatchObject([{ value: 'u1', calls: 3, errors: 0 }]);
    expect(usage.rest).toMatchObject({ values: 2, calls: 3 });
    const { data } = await operate(stack.db, listCalls, { workspace: slug, endUser: 'u1' });
    const cost = data.reduce((sum, call) => sum + Number(call.cost), 0);
    expect(usage.total).toMatchObject({ values: 3, calls: 6 });
    const more = { workspace: slug, limit: 1, after: usage.next ?? '' };
    expect(await operate(stack.db, usageByTag, more)).toMatchObject({
      data: [{ value: 'u2', calls: 2 }],
      rest: { values: 1, calls: 1 },
      total: { values: 3, calls: 6 },
    });
    const found = await operate(stack.db, usageByTag, { workspace: slug, search: 'U3' });
    expect(found).toMatchObject({ data: [{ value: 'u3', calls: 1 }], next: null, total: { values: 1 } });
    expect(Number(usage.data[0]?.cost)).toBeCloseTo(cost, 9);
    expect(cost).toBeGreaterThan(0);
    const elsewhere = await open();
    const none = await operate(stack.db, usageByTag, { workspace: elsewhere.slug });
    expect(none).toMatchObject({ data: [], next: null, rest: null, total: { values: 0 }, names: [] });
  });
});

describe('budgets of end users and tags (contract: tags/budgets, tags/spend)', () => {
  it('let one call cross, and the refusal names whose budget it was and when it ends', async () => {
    const { slug, key } = await open();
    await budget(slug, { dailyCap: '0.001' });
    await eventually(async () => (await send(key, { user: 'warm-up' })).code, 'day_limit_reached');
    expect((await send(key, { user: 'u1' })).status).toBe(200);
    const refused = await send(key, { user: 'u1' });
    expect(refused).toMatchObject({ status: 402, code: 'day_limit_reached' });
    expect(refused.message).toMatch(
      /^End user "u1" has reached its daily budget of \$0\.001; it resets at \d{4}-\d\d-\d\dT00:00:00Z, or raise the budget\.$/,
    );
    expect((await send(key, { user: 'u2' })).status).toBe(200);
    expect((await send(key)).status).toBe(200);
    expect(await logged(refused.id)).toMatchObject({ endUser: 'u1' });
  });

  it('are held exactly when many calls of one end user come at once', async () => {
    const { slug, key } = await open();
    await budget(slug, { dailyCap: '0.001' });
    await eventually(async () => (await send(key, { user: 'warm-up' })).code, 'day_limit_reached');
    const answers = await Promise.all(Array.from({ length: 30 }, () => send(key, { user: 'u1' })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([null, 'day_limit_reached']));
  });

  it('of 7 and 30 days are those of one value in place of the others’, and can be changed and deleted', async () => {
    const { slug, key } = await open();
    await budget(slug, { tag: 'feature', d30Cap: '0.001' });
    const id = await budget(slug, { tag: 'feature', value: 'search', d7Cap: '0.001' });
    await eventually(async () => (await send(key, {}, 'feature=search')).code, 'd7_limit_reached');
    expect((await send(key, {}, 'feature=chat')).status).toBe(200);
    const refused = await send(key, {}, 'feature=chat');
    expect(refused.code).toBe('d30_limit_reached');
    expect(refused.message).toMatch(
      /^Tag "feature=chat" has reached its 30-day budget of \$0\.001; it frees up from \d{4}-\S+Z on, or raise the budget\.$/,
    );
    await operate(stack.db, setTagBudget, { workspace: slug, id, d7Cap: '5' });
    await eventually(async () => (await send(key, {}, 'feature=search')).status, 200);
    await operate(stack.db, deleteTagBudget, { workspace: slug, id });
    await eventually(async () => (await send(key, {}, 'feature=search')).code, 'd30_limit_reached');
    const elsewhere = await open();
    expect((await operate(stack.db, listTagBudgets, { workspace: elsewhere.slug })).data).toEqual([]);
    expect((await send(elsewhere.key, {}, 'feature=search')).status).toBe(200);
    const [left] = (await operate(stack.db, listTagBudgets, { workspace: slug })).data;
    const other = { workspace: elsewhere.slug, id: left?.id };
    await expect(operate(stack.db, deleteTagBudget, other)).rejects.toThrow('there is no budget');
  });

  it('of requests a minute name whose limit it was (contract: tags/rates)', async () => {
    const { slug, key } = await open();
    await budget(slug, { rpm: 2 });
    await eventually(async () => (await send(key, { user: 'warm-up' })).code, 'api_key_rpm_exceeded');
    const answers = [await send(key, { user: 'u1' }), await send(key, { user: 'u1' })];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const refused = await send(key, { user: 'u1' });
    expect(refused).toMatchObject({ status: 429, code: 'api_key_rpm_exceeded' });
    expect(refused.message).toMatch(/^End user "u1" is limited to 2 requests a minute\. /);
    expect((await send(key, { user: 'u2' })).status).toBe(200);
    // Shown as refusing with the budgets, and not as a limit of the key (contract: tags/spent, operations/key-show).
    await stack.call(refused.id);
    expect((await operate(stack.db, showCall, { id: refused.id })).flags).toEqual(['end_user_limit']);
    const limited = { code: 'api_key_rpm_exceeded', until: null };
    const [each] = (await operate(stack.db, listTagBudgets, { workspace: slug })).data;
    expect(each?.refusing).toMatchObject({ ...limited, latest: { values: 2 } });
    const looked = (value: string) => operate(stack.db, showTagSpend, { workspace: slug, value });
    expect((await looked('u1')).refusing).toMatchObject({ ...limited, latest: { refused: 1, values: 1 } });
    expect((await looked('u2')).refusing).toBeNull();
    await budget(slug, { value: 'u1', rpm: 5 });
    const [all, own] = (await operate(stack.db, listTagBudgets, { workspace: slug })).data;
    expect([all?.refusing?.latest?.values, own?.refusing?.latest?.refused]).toEqual([1, 1]);
    expect((await listKeys(stack.db, slug)).data.map(({ refusing }) => refusing)).toEqual([null]);
  });
});
