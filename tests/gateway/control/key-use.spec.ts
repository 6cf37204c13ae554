import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endOverlap, rotateKey } from '#lib/control/operations/key/rotate';
import { showKeyUse } from '#lib/control/operations/key/use';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { createKey, createWorkspace, findKey, operate } from '#tests/support/control/operate';
import { eventually, insist } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import { type Stack, secrets } from '#tests/support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(() => stack.close());

const pepper = secrets.KEY_PEPPER;

async function newKey(settings: Record<string, unknown> = {}) {
  const { slug } = await stack.workspace();
  const made = await createKey(stack.db, { workspace: slug, name: 'web', ...settings }, pepper);
  return { slug, ...made };
}

/** Of a call that has ended. */
async function statusOf(key: string): Promise<number> {
  const answer = await fetch(`${stack.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await answer.text();
  return answer.status;
}

describe('an overlap (contract: authentication/rotation)', () => {
  it('lets both secrets work until it is ended by hand, and tells the earlier one', async () => {
    const { slug, id, key } = await newKey();
    const display = (secret: string) => `${secret.slice(0, 7)}…${secret.slice(-4)}`;
    expect((await findKey(stack.db, id)).earlier).toBeNull();
    const beforeMs = Date.now();
    const made = await operate(stack.db, rotateKey, { id, overlapSeconds: 3600 }, pepper);
    const { earlier } = await findKey(stack.db, id);
    expect(earlier?.display).toBe(display(key));
    expect(Date.parse(earlier?.until ?? '')).toBeGreaterThanOrEqual(beforeMs + 3_600_000);
    await eventually(() => statusOf(made.key), 200);
    expect(await statusOf(key)).toBe(200);
    const token = await operate(
      stack.db,
      createManagementKey,
      { workspace: slug, name: 'ci', role: 'owner' },
      pepper,
    );
    const ended = await fetch(`${stack.url}/api/v1/workspaces/${slug}/keys/${id}/end-overlap`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.key}` },
    });
    expect(await ended.json()).toMatchObject({ id, earlier: null, display: display(made.key) });
    expect(await statusOf(key)).toBe(401);
    expect(await statusOf(made.key)).toBe(200);
    await expect(operate(stack.db, endOverlap, { id })).resolves.toMatchObject({ earlier: null });
  });
});

describe('the use of a key (contract: operations/key-use)', () => {
  const use = (id: string, workspace?: string) =>
    operate(stack.db, showKeyUse, workspace === undefined ? { id } : { id, workspace });

  it('counts the calls of the last minute, asked through the gateway that served them', async () => {
    const { slug, id, key } = await newKey({ rpm: 60, concurrency: 5 });
    expect(await statusOf(key)).toBe(200);
    const token = await operate(
      stack.db,
      createManagementKey,
      { workspace: slug, name: 'ci', role: 'viewer' },
      pepper,
    );
    // A busy process may not answer within the 200 ms that it is waited for.
    const shown = await insist(async () => {
      const answer = await fetch(`${stack.url}/api/v1/workspaces/${slug}/keys/${id}/use`, {
        headers: { authorization: `Bearer ${token.key}` },
      });
      const told = await answer.json();
      expect(told.processes).toBeGreaterThanOrEqual(1);
      return told;
    });
    expect(shown).toMatchObject({
      requests: { used: 1, limit: 60 },
      tokens: { limit: null },
      atOnce: { used: 0, limit: 5 },
    });
    expect(shown.tokens.used).toBeGreaterThan(0);
  });

  it('is not told of a key of another workspace', async () => {
    const { id } = await newKey();
    const { slug } = await createWorkspace(stack.db, { name: 'Stranger' });
    await expect(use(id, slug)).rejects.toMatchObject({ code: 'not_found', field: 'id' });
    await expect(use('nonsense')).rejects.toMatchObject({ code: 'not_found' });
  });
});
