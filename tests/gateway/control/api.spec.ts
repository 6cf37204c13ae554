import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManagementKey, revokeManagementKey } from '#lib/control/operations/management-key/operations';
import type { Role } from '#lib/core/role';
import { createUser, operate } from '#tests/support/control/operate';
import { joinStack } from '#tests/support/shared/join';
import { type Stack, secrets } from '#tests/support/stack';

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown> & { error?: { code: string; message: string }; data?: unknown[] };
}

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(() => stack.close());

async function send(
  credential: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const answer = await fetch(`${stack.url}/api/v1${path}`, {
    method,
    headers: { ...(credential === null ? {} : { authorization: `Bearer ${credential}` }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Reply['body'] };
}

/** A workspace with a management key of a role. */
async function place(role: Role = 'owner') {
  const workspace = await stack.workspace();
  const given = { workspace: workspace.slug, name: 'ci', role };
  const made = await operate(stack.db, createManagementKey, given, secrets.KEY_PEPPER);
  return { ...workspace, keys: `/workspaces/${workspace.slug}/keys`, token: made.key, tokenId: made.id };
}

describe('a key of a workspace (contract: control-plane/management-keys)', () => {
  it('makes, shows, changes and revokes keys, whose calls follow at once (contract: control-plane/values)', async () => {
    const { keys, token, slug } = await place();
    const made = await send(token, 'POST', keys, { name: 'web', models: ['sandbox/echo'], rpm: 60 });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({ id: expect.any(String), key: expect.stringMatching(/^mg_/) });
    const one = `${keys}/${made.body.id}`;
    expect((await send(token, 'GET', one)).body).toMatchObject({
      id: made.body.id,
      name: 'web',
      workspace: slug,
      status: 'active',
      models: ['sandbox/echo'],
      rpm: 60,
      dailyCap: null,
      spent: { day: '0', d7: '0', d30: '0', total: '0' },
    });
    const call = () =>
      fetch(`${stack.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${made.body.key}` },
        body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }),
      });
    expect((await call()).status).toBe(200);
    expect((await send(token, 'PATCH', one, { rpm: null, dailyCap: '0.5' })).body).toMatchObject({
      rpm: null,
      dailyCap: '0.5',
      name: 'web',
    });
    expect((await send(token, 'POST', `${one}/disable`)).body).toMatchObject({ status: 'inactive' });
    expect((await call()).status).toBe(403);
    expect((await send(token, 'POST', `${one}/revoke`)).status).toBe(200);
    expect((await call()).status).toBe(401);
    expect(await send(token, 'PATCH', one, { rpm: 1 })).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    });
  });

  it('changes only as it was read, where If-Match says so', async () => {
    const { keys, token } = await place();
    const made = await send(token, 'POST', keys, { name: 'web' });
    const one = `${keys}/${made.body.id}`;
    const etag = (await send(token, 'GET', one)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    const changed = await send(token, 'PATCH', one, { rpm: 5 }, { 'if-match': etag });
    expect(changed.status).toBe(200);
    expect((await send(token, 'GET', one)).headers.get('etag')).toBe(changed.headers.get('etag'));
    const stale = await send(token, 'PATCH', one, { rpm: 6 }, { 'if-match': etag });
    expect(stale).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    const racing = Array.from({ length: 5 }, (_, n) =>
      send(token, 'PATCH', one, { rpm: 10 + n }, { 'if-match': changed.headers.get('etag') ?? '' }),
    );
    const statuses = (await Promise.all(racing)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 409, 409, 409, 409]);
  });

  it('appears on one page of a list, and the next page follows', async () => {
    const { keys, token } = await place();
    for (const name of ['web a', 'web b', 'web c']) await send(token, 'POST', keys, { name });
    const first = await send(token, 'GET', `${keys}?limit=2`);
    const second = await send(token, 'GET', `${keys}?limit=2&after=${first.body.next}`);
    expect([...(first.body.data ?? []), ...(second.body.data ?? [])]).toMatchObject([
      { name: 'web c' },
      { name: 'web b' },
      { name: 'web a' },
    ]);
    expect(second.body.next).toBeNull();
    expect((await send(token, 'GET', `${keys}?search=WEB%20B`)).body.data).toMatchObject([{ name: 'web b' }]);
  });

  it('leaves an audit row that names the management key, its address and what differs', async () => {
    const { keys, token, tokenId } = await place();
    const { body } = await send(token, 'POST', keys, { name: 'web', dailyCap: '2' });
    await send(token, 'PATCH', `${keys}/${body.id}`, { dailyCap: null, rpm: 7 });
    const rows = await stack.db.prisma.audit.findMany({
      where: { subject: String(body.id) },
      orderBy: { id: 'asc' },
    });
    expect(rows).toMatchObject([
      { action: 'key.create', actor: `management-key ${tokenId}`, before: null, after: { dailyCap: '2' } },
      {
        action: 'key.set',
        address: '127.0.0.1',
        before: { dailyCap: '2', rpm: null },
        after: { dailyCap: null, rpm: 7 },
      },
    ]);
    expect(JSON.stringify(rows)).not.toContain(body.key);
  });
});

describe('whoever asks', () => {
  it('learns which credential is missing or invalid here', async () => {
    const { keys, token, slug } = await place();
    const { key } = await stack.key(slug);
    expect(await send(null, 'GET', keys)).toMatchObject({
      status: 401,
      body: { error: { code: 'missing_platform_authorization' } },
    });
    const typo = `${token.slice(0, -1)}${token.endsWith('x') ? 'y' : 'x'}`;
    expect(await send(key, 'GET', keys)).toMatchObject({
      status: 401,
      body: { error: { code: 'missing_platform_authorization' } },
    });
    for (const credential of [typo, 'mgk_short', 'a b']) {
      const answer = await send(credential, 'GET', keys);
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } });
    }
    const models = await fetch(`${stack.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
    expect(models.status).toBe(401);
  });

  it('learns which roles may, when theirs may not (contract: control-plane/permission-denied)', async () => {
    const { keys, token } = await place('viewer');
    expect((await send(token, 'GET', keys)).status).toBe(200);
    const refused = await send(token, 'POST', keys, { name: 'web' });
    expect(refused.status).toBe(403);
    expect(refused.body.error).toEqual({
      code: 'permission_denied',
      message: expect.stringContaining('owner, admin or developer'),
    });
  });

  it('finds nothing of another workspace, neither by its slug nor by ids of what it owns', async () => {
    const [own, other] = [await place(), await place()];
    const { id } = await stack.key(other.slug);
    for (const path of [other.keys, `${other.keys}/${id}`, `${own.keys}/${id}`]) {
      expect(await send(own.token, 'GET', path)).toMatchObject({ status: 404 });
    }
    expect((await send(own.token, 'POST', `${own.keys}/${id}/revoke`)).status).toBe(404);
    expect((await send(own.token, 'PATCH', `${own.keys}/${id}`, { rpm: 1 })).status).toBe(404);
    expect((await send(other.token, 'GET', `${other.keys}/${id}`)).body).toMatchObject({ status: 'active' });
  });

  it('learns of the own key, and has none once it is revoked', async () => {
    const { token, tokenId, slug } = await place('billing');
    expect((await send(token, 'GET', '/me')).body).toMatchObject({
      id: tokenId,
      name: 'ci',
      workspace: slug,
      role: 'billing',
      operator: false,
    });
    await operate(stack.db, revokeManagementKey, { id: tokenId });
    expect((await send(token, 'GET', '/me')).status).toBe(401);
  });

  it('works in every workspace with a key of the operator', async () => {
    const { keys } = await place();
    const wanted = { name: 'ops', operator: true };
    const { key } = await operate(stack.db, createManagementKey, wanted, secrets.KEY_PEPPER);
    expect((await send(key, 'GET', '/me')).body).toMatchObject({ workspace: null, operator: true });
    expect((await send(key, 'POST', keys, { name: 'by ops' })).status).toBe(201);
  });

  it('cannot make a management key that may more, and loses those made under a role that is gone', async () => {
    const { slug, token } = await place('admin');
    const path = `/workspaces/${slug}/management-keys`;
    const higher = await send(token, 'POST', path, { name: 'up', role: 'owner' });
    expect(higher).toMatchObject({ status: 403, body: { error: { code: 'permission_denied' } } });
    expect((await send(token, 'POST', path, { name: 'same', role: 'admin' })).status).toBe(201);
    const user = await createUser(stack.db, {
      email: `${slug}@example.com`,
      password: 'long enough',
      workspace: slug,
      role: 'admin',
    });
    const actor = { kind: 'user', userId: user.id, operator: false, address: null } as const;
    const given = { workspace: slug, name: 'theirs', role: 'developer' };
    const made = await operate(stack.db, createManagementKey, given, secrets.KEY_PEPPER, actor);
    expect((await send(made.key, 'GET', '/me')).status).toBe(200);
    await stack.db.prisma.member.updateMany({ where: { userId: user.id }, data: { role: 'viewer' } });
    expect((await send(made.key, 'GET', '/me')).status).toBe(401);
  });
});

describe('an Idempotency-Key (contract: control-plane/idempotency)', () => {
  it('makes one key of fifty requests at once, and gives all of them its answer', async () => {
    const { keys, token, id } = await place();
    const once = { 'idempotency-key': 'deploy-1' };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => send(token, 'POST', keys, { name: 'web', rpm: 3 }, once)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await stack.db.prisma.apiKey.count({ where: { workspaceId: id } })).toBe(1);
    const again = await send(token, 'POST', keys, { rpm: 3, name: 'web' }, once);
    expect(again.body).toEqual(answers[0]?.body);
    const stored = await stack.db.pool.query('SELECT to_jsonb(s)::text AS row FROM stored_answer s');
    for (const { row } of stored.rows) expect(row).not.toContain(String(again.body.key));
  });

  it('is refused with another body, and is another one under another management key', async () => {
    const { keys, token, slug, id } = await place();
    const once = { 'idempotency-key': 'deploy-2' };
    await send(token, 'POST', keys, { name: 'web' }, once);
    expect(await send(token, 'POST', keys, { name: 'other' }, once)).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    });
    const given = { workspace: slug, name: 'second', role: 'owner' };
    const { key } = await operate(stack.db, createManagementKey, given, secrets.KEY_PEPPER);
    expect((await send(key, 'POST', keys, { name: 'other' }, once)).status).toBe(201);
    expect(await stack.db.prisma.apiKey.count({ where: { workspaceId: id } })).toBe(2);
  });

  it('of a refused request is free again', async () => {
    const { keys, token } = await place();
    const once = { 'idempotency-key': 'deploy-3' };
    expect((await send(token, 'POST', keys, { name: 'web', models: ['none/such'] }, once)).status).toBe(400);
    expect((await send(token, 'POST', keys, { name: 'web' }, once)).status).toBe(201);
  });

  it('is forgotten after 24 hours, however many others are', async () => {
    const { keys, token, tokenId } = await place();
    const once = { 'idempotency-key': 'deploy-4' };
    await stack.db.pool.query(
      `INSERT INTO stored_answer (management_key_id, token, request, answer, created_at)
       SELECT $1, 'old-' || n, '', '', now() - interval '3 days' FROM generate_series(1, 300) n`,
      [tokenId],
    );
    const first = await send(token, 'POST', keys, { name: 'web' }, once);
    await stack.db.pool.query(
      `UPDATE stored_answer SET created_at = now() - interval '25 hours' WHERE token = 'deploy-4'`,
    );
    const second = await send(token, 'POST', keys, { name: 'other' }, once);
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });
});

describe('a request that cannot be read', () => {
  it.each<[string, unknown, string]>([
    ['no name', {}, 'name: '],
    ['a field that is none', { name: 'a', colour: 'red' }, 'colour: '],
    ['a limit of 0', { name: 'a', rpm: 0 }, 'rpm: '],
    ['a limit as a word', { name: 'a', rpm: '10' }, 'rpm: '],
    ['a cap as a number', { name: 'a', dailyCap: 5 }, 'dailyCap: '],
    ['a model of no catalogue', { name: 'a', models: ['none/such'] }, 'models: '],
    ['a model that is no text', { name: 'a', models: [7] }, 'models.0: '],
    ['a control character', { name: 'a\u0000b' }, 'name: '],
    ['half a character', { name: 'a\ud800b' }, 'name: '],
    ['a date far off', { name: 'a', expiresAt: '9999-01-01' }, 'expiresAt: '],
    ['no JSON', '{"name":', 'the body is not valid JSON'],
    ['a list', [], 'the body is not a JSON object'],
  ])('is refused for %s, and its message begins with the field', async (_, body, start) => {
    const { keys, token, id } = await place();
    const { status, body: answer, headers } = await send(token, 'POST', keys, body);
    expect(status).toBe(400);
    expect(answer.error).toMatchObject({ code: 'invalid_body' });
    expect(answer.error?.message.startsWith(start)).toBe(true);
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await stack.db.prisma.apiKey.count({ where: { workspaceId: id } })).toBe(0);
  });

  it('learns what exists instead of a wrong method or address', async () => {
    const { keys, token } = await place();
    const wrong = await send(token, 'DELETE', keys);
    expect(wrong).toMatchObject({ status: 405, body: { error: { code: 'method_not_allowed' } } });
    expect(wrong.headers.get('allow')).toBe('GET, POST');
    expect(await send(token, 'GET', '/nothing')).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
    expect((await send(token, 'GET', `${keys}/%zz`)).status).toBe(404);
    expect((await send(token, 'GET', `${keys}?limit=2&limit=3`)).body.error?.message).toMatch(/^limit: /);
  });

  it('is refused when its body is larger than 1 MiB, and the client gets to read why', async () => {
    const { keys, token } = await place();
    const { status, body } = await send(token, 'POST', keys, { name: 'x'.repeat(1_500_000) });
    expect(status).toBe(400);
    expect(body.error?.message).toContain('1 MiB');
  });
});
