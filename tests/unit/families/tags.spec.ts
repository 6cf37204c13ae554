import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { boundTags, endUserName, type TagBudget, tagIdOf } from '#lib/core/facts/tags';
import type { FamilyId } from '#lib/core/families/ids';
import { readTags, tagFieldsOf } from '#lib/core/families/reading/tags';
import { scan } from '#lib/core/families/scan';

const both = { tags: true, endUsers: true };

function read(family: FamilyId, body: unknown, header?: string, rules = both) {
  const fields = tagFieldsOf(family);
  const scanned = fields === null ? null : scan(Buffer.from(JSON.stringify(body)), fields);
  if (scanned !== null && 'fault' in scanned) throw new Error(scanned.fault);
  const tags = readTags({ header, scan: scanned, family }, rules);
  if (isRefusal(tags)) return tags.message;
  return Object.fromEntries(tags.map(({ name, value }) => [name, value]));
}

describe('whom a request is for (contract: tags/sources)', () => {
  it.each([
    ['chat', { user: 'u1' }, undefined, { [endUserName]: 'u1' }],
    ['chat', { user: 'u1', safety_identifier: 's1' }, undefined, { [endUserName]: 's1' }],
    ['chat', { user: 'u1', safety_identifier: null }, undefined, { [endUserName]: 'u1' }],
    ['responses', { safety_identifier: 's1' }, undefined, { [endUserName]: 's1' }],
    ['messages', { metadata: { user_id: 'm1' } }, undefined, { [endUserName]: 'm1' }],
    ['messages', { user: 'u1' }, undefined, {}],
    ['embeddings', { user: 'u1' }, 'a=b', { a: 'b' }],
    ['chat', { metadata: { feature: 'chat', n: '1' } }, undefined, { feature: 'chat', n: '1' }],
    [
      'chat',
      { metadata: { feature: 'x' } },
      'feature=search, tenant=acme',
      { feature: 'search', tenant: 'acme' },
    ],
    ['chat', { metadata: { 'a b': 'x', '': 'y', c: '' } }, ' ', {}],
    ['chat', {}, 'name=caf\u00c3\u00a9', { name: 'café' }],
    ['chat', {}, 'query=a=b', { query: 'a=b' }],
  ] as const)('%s %j with the header %s', (family, body, header, tags) => {
    expect(read(family, body, header)).toEqual(tags);
  });

  it('leaves out the session that Claude Code sends', () => {
    const id = `user_${'ab12'.repeat(16)}_account_2d5e6f70-1111-4222-8333-444455556666`;
    const session = '_session_9a8b7c6d-1111-4222-8333-444455556666';
    expect(read('messages', { metadata: { user_id: id + session } })).toEqual({ [endUserName]: id });
    expect(read('messages', { metadata: { user_id: `u${session}` } })).toEqual({
      [endUserName]: `u${session}`,
    });
  });

  it('reads only what the workspace has turned on', () => {
    const body = { user: 'u1', metadata: { a: 'b' } };
    expect(read('chat', body, 'c=d', { tags: false, endUsers: true })).toEqual({ [endUserName]: 'u1' });
    expect(read('chat', body, 'c=d', { tags: true, endUsers: false })).toEqual({ a: 'b', c: 'd' });
    expect(read('chat', { user: 7 }, '=', { tags: false, endUsers: false })).toEqual({});
    const large = { metadata: { a: 'x'.repeat(70_000) } };
    expect(read('chat', large, undefined, { tags: false, endUsers: true })).toEqual({});
    expect(read('messages', large, undefined, { tags: true, endUsers: false })).toEqual({});
  });
});

describe('bounds of tags (contract: tags/bounds)', () => {
  it.each([
    ['chat', {}, 'search', 'is not a pair'],
    ['chat', {}, 'a=b,', 'is not a pair'],
    ['chat', {}, '=b', 'has the name ""'],
    ['chat', {}, '@end-user=b', 'has the name "@end-user"'],
    ['chat', {}, 'a=', 'whose value must not be empty'],
    ['chat', {}, `a=${'x'.repeat(257)}`, 'at most 256 characters'],
    ['chat', {}, 'a=b, a=c', 'names "a" twice'],
    ['chat', {}, 'a=b\tc', 'must not have control characters'],
    ['chat', {}, Array.from({ length: 17 }, (_, n) => `t${n}=1`).join(), 'has 17 tags'],
    ['chat', {}, 'x'.repeat(9_000), 'is over 8 KiB'],
    ['chat', { user: 7 }, undefined, '"user", the id of the end user, must be a string'],
    ['chat', { user: 'x'.repeat(257) }, undefined, 'at most 256 characters'],
    ['messages', { metadata: { user_id: {} } }, undefined, '"metadata.user_id"'],
    ['chat', { metadata: { a: 7 } }, undefined, '"metadata.a", which is recorded as a tag, must be a string'],
    [
      'chat',
      { metadata: { z: '1' } },
      Array.from({ length: 16 }, (_, n) => `t${n}=1`).join(),
      'at most 16 tags',
    ],
    ['chat', { metadata: { a: 'x'.repeat(70_000) } }, undefined, 'over 64 KiB'],
  ] as const)('%s %j with the header %s is refused', (family, body, header, message) => {
    expect(read(family, body, header)).toContain(message);
  });
});

describe('the budgets of a call (contract: tags/budgets)', () => {
  const workspaceId = '00000000-0000-7000-8000-00000000000a';
  const budget = (rpm: number): TagBudget => ({
    caps: { dayNano: null, d7Nano: null, d30Nano: null },
    limits: { rpm, tpm: null, concurrency: null },
  });
  const budgets = new Map([
    [
      endUserName,
      new Map([
        ['', budget(1)],
        ['vip', budget(2)],
      ]),
    ],
    ['feature', new Map([['search', budget(3)]])],
    // Sorts before the name of the end user.
    ['Acme', new Map([['', budget(4)]])],
  ]);
  const rpmOf = (tags: Record<string, string>) =>
    boundTags(
      workspaceId,
      Object.entries(tags).map(([name, value]) => ({ name, value })),
      { budgets },
    ).map(({ name, limits }) => [name, limits.rpm]);

  it('are the exception for a value, else the default of its name, the end user first', () => {
    expect(rpmOf({ feature: 'search', [endUserName]: 'vip' })).toEqual([
      [endUserName, 2],
      ['feature', 3],
    ]);
    expect(rpmOf({ feature: 'chat', [endUserName]: 'u1' })).toEqual([[endUserName, 1]]);
    expect(rpmOf({ Acme: 'x', [endUserName]: 'u1' })).toEqual([
      [endUserName, 1],
      ['Acme', 4],
    ]);
    expect(rpmOf({ other: 'x' })).toEqual([]);
  });

  it('belong to one workspace, name and value', () => {
    const id = tagIdOf(workspaceId, { name: 'a', value: 'b' });
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(tagIdOf(workspaceId.toUpperCase(), { name: 'a', value: 'b' })).toBe(id);
    const others = [
      tagIdOf('00000000-0000-7000-8000-00000000000b', { name: 'a', value: 'b' }),
      tagIdOf(workspaceId, { name: 'a', value: 'c' }),
      tagIdOf(workspaceId, { name: 'b', value: 'b' }),
    ];
    expect(others).not.toContain(id);
  });
});
