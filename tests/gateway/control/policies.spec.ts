import { afterAll, beforeAll, expect, it } from 'vitest';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { operate } from '#tests/support/control/operate';
import { joinStack } from '#tests/support/shared/join';
import { type Stack, secrets } from '#tests/support/stack';

let stack: Stack;
let workspace: string;
let policies: string;
let token: string;
beforeAll(async () => {
  stack = await joinStack();
  ({ slug: workspace } = await stack.workspace());
  const given = { workspace, name: 'ci', role: 'developer' };
  token = (await operate(stack.db, createManagementKey, given, secrets.KEY_PEPPER)).key;
  policies = `${stack.url}/api/v1/workspaces/${workspace}/policies`;
});
afterAll(() => stack.close());

async function send(method: string, address: string, body?: unknown, ifMatch?: string) {
  const answer = await fetch(`${policies}${address}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, etag: answer.headers.get('etag') ?? '', body: await answer.json() };
}

it('a policy is read and replaced whole, under its entity tag, and rolled back', async () => {
  const empty = await send('GET', '/default');
  expect(empty).toMatchObject({ status: 200, body: {} });
  const first = await send(
    'PUT',
    '/default',
    { sort: 'price', aliases: { smart: 'sandbox/echo' } },
    empty.etag,
  );
  expect(first).toMatchObject({ status: 200, body: { version: 1 } });
  expect(await send('GET', '/default')).toMatchObject({
    status: 200,
    etag: first.etag,
    body: { sort: 'price', aliases: { smart: 'sandbox/echo' } },
  });
  const stale = await send('PUT', '/default', { sort: 'order' }, empty.etag);
  expect(stale).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  const back = await send('POST', '/default/rollback');
  expect(back).toMatchObject({ status: 200, body: { version: 2, restored: null, policy: {} } });
  expect((await send('GET', '/default')).body).toEqual({});
});

it('a model has a policy of its own, under its slug with %2F', async () => {
  const own = '/sandbox%2Fecho';
  expect((await send('GET', own)).body).toEqual({});
  expect((await send('PUT', own, { maxAttempts: 2 })).status).toBe(200);
  expect((await send('GET', own)).body).toEqual({ maxAttempts: 2 });
  expect((await send('GET', '')).body).toMatchObject({ models: { 'sandbox/echo': { maxAttempts: 2 } } });
  for (const method of ['GET', 'PUT']) {
    const unknown = await send(method, '/no%2Fsuch', method === 'PUT' ? {} : undefined);
    expect(unknown).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  }
});

it.each<[string, unknown, string]>([
  ['an unknown key', { colour: 'red' }, 'colour: '],
  ['another type', { maxAttempts: 'two' }, 'maxAttempts: '],
  ['a key of a part', { timeouts: { idleMs: 1 } }, 'timeouts.idleMs: '],
  ['a provider of no catalogue', { order: ['nobody'] }, 'there is no provider "nobody"'],
  ['a list', [], 'the body is not a JSON object'],
])('%s is refused by its name', async (_, body, start) => {
  const refused = await send('PUT', '/default', body);
  expect(refused.status).toBe(400);
  expect(refused.body.error.message.startsWith(start), refused.body.error.message).toBe(true);
});

it('the catalogue is a list like others, to any management key', async () => {
  const list = (query: string) =>
    fetch(`${stack.url}/api/v1/models${query}`, { headers: { authorization: `Bearer ${token}` } }).then(
      async (answer) => (await answer.json()) as { data: { id: string }[]; next: string | null },
    );
  const whole = await list('?limit=500');
  const first = await list('?limit=1');
  const second = await list(`?limit=1&after=${encodeURIComponent(first.next ?? '')}`);
  expect([...first.data, ...second.data]).toEqual(whole.data.slice(0, 2));
  expect(whole.data.find(({ id }) => id === 'sandbox/echo')).toMatchObject({
    offers: [{ available: true, why: null, price: { input: expect.any(String) } }],
  });
});

it('a policy that the version before stored shows that it translates as a fallback, until it says otherwise', async () => {
  const own = '/sandbox%2Fmini';
  await stack.db.pool.query(
    `INSERT INTO policy (workspace_id, model_id, version, policy)
     SELECT id, 'sandbox/mini', 1, '{"maxAttempts": 2}' FROM workspace WHERE slug = $1`,
    [workspace],
  );
  const stored = { maxAttempts: 2, translate: 'fallback' };
  expect((await send('GET', own)).body).toEqual(stored);
  expect((await send('PUT', own, { maxAttempts: 3 })).status).toBe(200);
  expect((await send('GET', own)).body).toEqual({ maxAttempts: 3 });
  expect((await send('GET', `${own}/versions`)).body.data).toMatchObject([
    { version: 2, policy: { maxAttempts: 3 } },
    { version: 1, policy: stored },
  ]);
  expect((await send('POST', `${own}/rollback`)).body).toEqual({ version: 3, restored: 1, policy: stored });
  expect((await send('GET', own)).body).toEqual(stored);
  // The version before reads only the keys that it knows.
  const { rows } = await stack.db.pool.query(
    `SELECT policy, p.translate FROM policy p JOIN workspace w ON w.id = p.workspace_id
     WHERE slug = $1 AND model_id = 'sandbox/mini' ORDER BY version`,
    [workspace],
  );
  expect(rows).toEqual([
    { policy: { maxAttempts: 2 }, translate: 'fallback' },
    { policy: { maxAttempts: 3 }, translate: null },
    { policy: { maxAttempts: 2 }, translate: 'fallback' },
  ]);
});
