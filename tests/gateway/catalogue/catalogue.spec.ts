import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { operate } from '#tests/support/control/operate';
import { insist } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import { type Stack, secrets } from '#tests/support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(() => stack.close());

async function place() {
  const { slug } = await stack.workspace();
  const given = { workspace: slug, name: 'reader', role: 'viewer' as const };
  const { key: token } = await operate(stack.db, createManagementKey, given, secrets.KEY_PEPPER);
  return { slug, token, ...(await stack.key(slug)) };
}

async function read<Answer>(path: string, credential: string): Promise<Answer> {
  const answer = await fetch(`${stack.url}${path}`, { headers: { authorization: `Bearer ${credential}` } });
  expect(answer.status, path).toBe(200);
  return (await answer.json()) as Answer;
}

interface Listed {
  readonly id: string;
  readonly offers: readonly { readonly available: boolean; readonly provider: string }[];
}

describe('the catalogue', () => {
  it('is one for calls and for programs (contract: families/model-lists)', async () => {
    const { key, token } = await place();
    const calls = await read<{ data: { id: string }[] }>('/v1/models', key);
    const available = await read<{ data: Listed[] }>('/api/v1/models?available=on', token);
    expect(available.data.map(({ id }) => id).sort()).toEqual(calls.data.map(({ id }) => id).sort());
    const all = await read<{ data: Listed[] }>('/api/v1/models', token);
    expect(all.data.length).toBeGreaterThan(available.data.length);
  });

  it('is narrowed by what its fields declare, and shows one model by its slug', async () => {
    const { token } = await place();
    const found = await read<{ data: Listed[] }>('/api/v1/models?search=sandbox/echo&family=messages', token);
    expect(found.data.map(({ id }) => id)).toContain('sandbox/echo');
    const one = await read<Listed>('/api/v1/models/sandbox%2Fecho', token);
    expect(one).toMatchObject({
      id: 'sandbox/echo',
      vendor: 'sandbox',
      offers: [
        { providerName: expect.any(String), price: { bands: [{ tier: 'default' }, { tier: 'batch' }] } },
      ],
    });
  });

  it('shows a workspace how offers have served it, and nothing about other workspaces', async () => {
    const [one, other] = [await place(), await place()];
    const call = await fetch(`${stack.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${one.key}` },
      body: JSON.stringify({ model: 'sandbox/mini', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    expect(call.status).toBe(200);
    await call.text();
    await stack.call(call.headers.get('x-request-id') ?? '');
    const path = (slug: string) => `/api/v1/workspaces/${slug}/models/sandbox%2Fmini/performance`;
    // A busy process may not answer within the 200 ms that it is waited for.
    const mine = await insist(async () => {
      const told = await read<{ health: string; offers: object[] }>(path(one.slug), one.token);
      expect(told.health).toBe('live');
      return told;
    });
    expect(mine).toMatchObject({
      offers: [{ state: 'in service', calls: 1, uptime: 1, latencyMs: { p50: expect.any(Number) } }],
    });
    const theirs = await read<{ offers: object[] }>(path(other.slug), other.token);
    expect(theirs.offers).toEqual([
      {
        provider: 'sandbox',
        state: 'in service',
        calls: 0,
        uptime: null,
        latencyMs: null,
        firstByteMs: null,
        tokensPerSecond: null,
      },
    ]);
  });
});
