import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCalls, showCall } from '#lib/control/operations/call/operations';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { showUsage } from '#lib/control/operations/usage/operations';
import { dropPartitions } from '#lib/control/retention/partitions';
import type { Role } from '#lib/core/role';
import { closeBalanced } from '#tests/support/books';
import { ask } from '#tests/support/chat-call';
import { disableKey, exhaustKey, operate, setWorkspace } from '#tests/support/control/operate';
import { joinStack } from '#tests/support/shared/join';
import { type Stack, secrets } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(() => closeBalanced(stack));

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown> & { error?: { code: string; message: string } };
}

async function send(credential: string, path: string, body: unknown, method = 'POST'): Promise<Reply> {
  const answer = await fetch(`${stack.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${credential}` },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Reply['body'] };
}

const write = (credential: string, call: string, body: unknown) =>
  send(credential, `/calls/${call}/feedback`, body);

async function open() {
  const workspace = await stack.workspace();
  return { ...workspace, ...(await stack.key(workspace.slug)), workspaceId: workspace.id };
}

async function managementKey(workspace: string, role: Role): Promise<string> {
  const given = { workspace, name: 'ci', role };
  return (await operate(stack.db, createManagementKey, given, secrets.KEY_PEPPER)).key;
}

/** A call that is in the log. */
async function called(key: string, model = 'sandbox/echo'): Promise<string> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await ask(stack.url, 'POST', '/v1/chat/completions', headers, body);
  const id = headerOf(answer, 'x-request-id') ?? '';
  await stack.call(id);
  return id;
}

const feedbackOf = async (id: string) => (await operate(stack.db, showCall, { id })).feedback;
const found = async (workspace: string, filters: Record<string, unknown>) =>
  (await operate(stack.db, listCalls, { workspace, ...filters })).data.map(({ id }) => id);

describe('feedback (contract: call-log/feedback)', () => {
  it('of the key that made the call is shown with it, and writing again replaces all of it', async () => {
    const { key, slug } = await open();
    const id = await called(key);
    expect(await feedbackOf(id)).toBeNull();
    const first = await write(key, id, { score: 0.2, label: 'wrong', text: 'It said\nno.' });
    expect(first).toMatchObject({ status: 200, body: { id, score: 0.2, label: 'wrong', by: 'api-key' } });
    const token = await managementKey(slug, 'developer');
    const read = (await send(token, `/workspaces/${slug}/calls/${id}`, null, 'GET')).body;
    expect(read.feedback).toMatchObject({ score: 0.2, label: 'wrong', text: 'It said\nno.' });
    await write(token, id, { score: 1 });
    expect(await feedbackOf(id)).toMatchObject({
      score: 1,
      label: null,
      text: null,
      by: 'management-key',
    });
  });

  it('is replaced by one of many that are written at once', async () => {
    const { key, workspaceId } = await open();
    const id = await called(key);
    const scores = Array.from({ length: 12 }, (_, at) => at / 12);
    const answers = await Promise.all(scores.map((score) => write(key, id, { score })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { rows } = await stack.db.pool.query('SELECT 1 FROM call_feedback WHERE workspace_id = $1', [
      workspaceId,
    ]);
    expect(rows).toHaveLength(1);
  });

  it.each([
    ['nothing', {}, /score: give a score, a label or a text/],
    ['a score above 1', { score: 1.5 }, /from 0 to 1/],
    ['a score that is no number', { score: '1' }, /from 0 to 1/],
    ['a long label', { label: 'x'.repeat(65) }, /at most 64/],
    ['a label of two lines', { label: 'a\nb' }, /line breaks/],
    ['a long text', { text: 'x'.repeat(4_001) }, /at most 4000/],
    ['a text with control characters', { text: 'a\u0000b' }, /control characters/],
    ['another field', { score: 1, user: 'anna' }, /unknown field/],
  ])('with %s is refused', async (_, body, message) => {
    const { key } = await open();
    const answer = await write(key, await called(key), body);
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'invalid_body']);
    expect(answer.body.error?.message).toMatch(message);
  });

  it('of other keys and workspaces is not found (contract: call-log/feedback-by)', async () => {
    const [mine, theirs] = [await open(), await open()];
    const id = await called(mine.key);
    const { key: sibling } = await stack.key(mine.slug);
    const token = await managementKey(theirs.slug, 'owner');
    for (const credential of [sibling, theirs.key, token]) {
      const answer = await write(credential, id, { score: 0 });
      expect([answer.status, answer.body.error?.code]).toEqual([404, 'not_found']);
    }
    expect((await write(mine.key, randomUUID(), { score: 0 })).status).toBe(404);
    expect(await feedbackOf(id)).toBeNull();
  });

  it('is refused for roles that only read', async () => {
    const { key, slug } = await open();
    const id = await called(key);
    for (const role of ['viewer', 'billing'] as const) {
      const answer = await write(await managementKey(slug, role), id, { score: 0 });
      expect([answer.status, answer.body.error?.code]).toEqual([403, 'permission_denied']);
    }
  });

  it('is written by a key with a used quota, not by a disabled one, and an API key opens nothing else', async () => {
    const { key, slug, id: keyId } = await open();
    const id = await called(key);
    await exhaustKey(stack.db, { workspace: slug, id: keyId });
    expect((await write(key, id, { score: 1 })).status).toBe(200);
    await disableKey(stack.db, { workspace: slug, id: keyId });
    expect((await write(key, id, { score: 1 })).body.error?.code).toBe('apikey_inactive');
    const answer = await send(key, `/workspaces/${slug}/calls/${id}`, null, 'GET');
    expect([answer.status, answer.body.error?.code]).toEqual([401, 'missing_platform_authorization']);
  });

  it('shows its text only to those who may read content, and in no log, row or audit (contract: call-log/feedback-text)', async () => {
    const { key, slug, workspaceId } = await open();
    const [id, canary] = [await called(key), `canary-${randomUUID()}`];
    await write(key, id, { score: 1, text: canary });
    await write(await managementKey(slug, 'admin'), id, { score: 0, label: 'bad', text: canary });
    const read = await send(
      await managementKey(slug, 'viewer'),
      `/workspaces/${slug}/calls/${id}`,
      null,
      'GET',
    );
    expect(read.body.feedback).toMatchObject({ score: 0, label: 'bad', text: null });
    const { rows } = await stack.db.pool.query<{ row: string }>(
      `SELECT f::text AS row FROM call_feedback f WHERE workspace_id = $1
       UNION ALL SELECT a::text FROM audit a WHERE workspace_id = $1 AND action = 'feedback.set'`,
      [workspaceId],
    );
    // One feedback, and one row of audit: that of the management key.
    expect(rows).toHaveLength(2);
    for (const { row } of rows) {
      expect(row).not.toContain(canary);
      expect(row).not.toContain(Buffer.from(canary).toString('hex'));
    }
    expect(await stack.log()).not.toContain(canary);
  });

  it('filters the log, and usage counts rated and good answers by model (contract: call-log/feedback-figures)', async () => {
    const { key, slug } = await open();
    const calls = await Promise.all([called(key), called(key), called(key), called(key, 'sandbox/mini')]);
    const [good = '', bad = '', labeled = '', other = ''] = calls;
    await write(key, good, { score: 0.5 });
    await write(key, bad, { score: 0.4, label: 'rude' });
    await write(key, labeled, { label: 'rude' });
    await write(key, other, { score: 1 });
    expect(await found(slug, { feedback: 'bad' })).toEqual([bad]);
    expect((await found(slug, { feedback: 'good' })).sort()).toEqual([good, other].sort());
    expect(await found(slug, { feedback: 'none' })).toEqual([]);
    expect((await found(slug, { feedback: 'any' })).sort()).toEqual([...calls].sort());
    expect((await found(slug, { feedbackLabel: 'rude' })).sort()).toEqual([bad, labeled].sort());
    const usage = await operate(stack.db, showUsage, { workspace: slug });
    expect(usage.total).toMatchObject({ calls: 4, rated: 3, good: 2 });
    expect(usage.rows.map(({ model, rated, good: fine }) => [model, rated, fine]).sort()).toEqual([
      ['sandbox/echo', 2, 1],
      ['sandbox/mini', 1, 1],
    ]);
    const narrow = await operate(stack.db, showUsage, { workspace: slug, by: 'day', model: 'sandbox/mini' });
    expect(narrow.rows).toMatchObject([{ rated: 1, good: 1 }]);
  });

  it('is deleted with its call (contract: call-log/feedback-lifetime)', async () => {
    const { key, slug, workspaceId } = await open();
    const [old, young] = [await called(key), await called(key)];
    await write(key, old, { score: 1 });
    await write(key, young, { score: 1 });
    await setWorkspace(stack.db, { workspace: slug, retentionDays: 1 });
    await stack.db.pool.query(
      `UPDATE call_feedback SET at = now() - interval '25 hours' WHERE call_id = $1`,
      [old],
    );
    const kept = async () => {
      await dropPartitions(stack.db.pool, Date.now(), 90);
      const { rows } = await stack.db.pool.query<{ id: string }>(
        'SELECT call_id::text AS id FROM call_feedback WHERE workspace_id = $1',
        [workspaceId],
      );
      return rows.map(({ id }) => id);
    };
    expect(await kept()).toEqual([young]);
    await stack.db.pool.query('UPDATE workspace SET deleted_at = now() WHERE id = $1', [workspaceId]);
    expect(await kept()).toEqual([]);
    await stack.db.pool.query('UPDATE workspace SET deleted_at = NULL WHERE id = $1', [workspaceId]);
  });
});
