import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCredit as addCreditOperation } from '#lib/control/operations/credit/operations';
import { grantCredit } from '#lib/control/operations/credit/promo';
import { createKey } from '#lib/control/operations/key/operations';
import { listLedger } from '#lib/control/operations/ledger/operations';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { roles } from '#lib/core/role';
import { addCredit, operate } from '#tests/support/control/operate';
import { joinStack } from '#tests/support/shared/join';
import { type Stack, secrets } from '#tests/support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(() => stack.close());

const ledgerOf = (workspace: string) => operate(stack.db, listLedger, { workspace });

const balanceOf = async (id: string) =>
  (await stack.db.prisma.workspace.findUniqueOrThrow({ where: { id } })).balanceNano;

describe('a credit (contract: money/by-hand)', () => {
  it('is posted as a ledger line with its reason, and a debit recalls leases', async () => {
    const { id, slug } = await stack.workspace();
    const added = await addCredit(stack.db, { workspace: slug, amount: '2.5', reason: 'gift' });
    expect(added.balance).toBe('2.5');
    const taken = await addCredit(stack.db, { workspace: slug, amount: '-4', reason: 'mistake' });
    expect(taken.balance).toBe('-1.5');
    expect((await ledgerOf(slug)).data).toMatchObject([
      { ref: added.ref, kind: 'adjustment', amount: '2.5', balance: '2.5', calls: null, reason: 'gift' },
      { ref: taken.ref, kind: 'adjustment', amount: '-4', balance: '-1.5', reason: 'mistake' },
    ]);
    const where = { subject: `workspace:${id}`, kind: 'lease' };
    expect(await stack.db.prisma.change.count({ where })).toBe(1);
  });

  it('leaves one audit row with the amount, the reason and the balance', async () => {
    const { id, slug } = await stack.workspace();
    const { ref } = await addCredit(stack.db, { workspace: slug, amount: '3', reason: 'gift' });
    expect(await stack.db.prisma.audit.findMany({ where: { subject: ref } })).toMatchObject([
      {
        action: 'credit.add',
        workspaceId: id,
        after: { amount: '3', reason: 'gift', balance: '3' },
      },
    ]);
  });

  it('adds up when 20 are posted at once', async () => {
    const { id, slug } = await stack.workspace();
    const post = () => addCredit(stack.db, { workspace: slug, amount: '0.1', reason: 'race' });
    const posted = await Promise.all(Array.from({ length: 20 }, post));
    expect(await balanceOf(id)).toBe(2_000_000_000n);
    expect(new Set(posted.map(({ balance }) => balance)).size).toBe(20);
  });

  it.each([
    [{ amount: '0', reason: 'gift' }, 'amount'],
    [{ amount: 'a lot', reason: 'gift' }, 'amount'],
    [{ amount: 5, reason: 'gift' }, 'amount'],
    [{ amount: '1000000000.1', reason: 'gift' }, 'amount'],
    [{ amount: '1', reason: ' ' }, 'reason'],
    [{ amount: '1', reason: 'a\u0000b' }, 'reason'],
    [{ amount: '1', reason: 'a\ud800b' }, 'reason'],
    [{ amount: '1' }, 'reason'],
  ])('is refused for %j', async (given, field) => {
    const { slug, id } = await stack.workspace();
    await expect(operate(stack.db, addCreditOperation, { workspace: slug, ...given })).rejects.toMatchObject({
      code: 'invalid_body',
      field,
    });
    expect(await balanceOf(id)).toBe(0n);
  });
});

describe('a ref of the caller’s own (contract: money/own-ref)', () => {
  const expiresAt = '2199-01-01T00:00:00Z';
  const ways: [
    string,
    (given: { workspace: string } & Record<string, unknown>) => Promise<{ ref: string }>,
  ][] = [
    ['a line by hand', (given) => operate(stack.db, addCreditOperation, given)],
    ['promo credit', (given) => operate(stack.db, grantCredit, given)],
    ['promo credit that expires', (given) => operate(stack.db, grantCredit, { ...given, expiresAt })],
  ];

  it.each(ways)('posts %s once, however often and however many at once', async (_, post) => {
    const { id, slug } = await stack.workspace();
    const given = { workspace: slug, amount: '7', reason: 'gift', ref: randomUUID() };
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(given)));
    answers.push(await post(given));
    expect(answers.map(({ ref }) => ref)).toEqual(answers.map(() => given.ref));
    expect(await balanceOf(id)).toBe(7_000_000_000n);
    expect((await ledgerOf(slug)).data).toMatchObject([{ ref: given.ref, amount: '7' }]);
    expect(await stack.db.prisma.audit.count({ where: { subject: given.ref } })).toBe(1);
    await post({ ...given, ref: randomUUID() });
    expect(await balanceOf(id)).toBe(14_000_000_000n);
  });

  it.each(ways)('is refused for another one than %s that stands under it', async (_, post) => {
    const [{ id, slug }, other] = [await stack.workspace(), await stack.workspace()];
    const given = { workspace: slug, amount: '7', reason: 'gift', ref: randomUUID() };
    await post(given);
    const changed = [{ amount: '8' }, { reason: 'another' }, { workspace: other.slug }];
    for (const change of changed) {
      await expect(post({ ...given, ...change })).rejects.toMatchObject({ code: 'conflict', field: 'ref' });
    }
    expect([await balanceOf(id), await balanceOf(other.id)]).toEqual([7_000_000_000n, 0n]);
  });

  it('is random, so that it is never that of a call or a job', async () => {
    const { slug } = await stack.workspace();
    const ref = '0190c7b2-0000-7000-8000-000000000000';
    const given = { workspace: slug, amount: '1', reason: 'gift', ref };
    await expect(operate(stack.db, addCreditOperation, given)).rejects.toMatchObject({ field: 'ref' });
  });
});

describe('credits over the management API', () => {
  const post = async (token: string, slug: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${stack.url}/api/v1/workspaces/${slug}/credits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const keyOf = async (given: { workspace?: string; role?: string; operator?: boolean }) =>
    (await operate(stack.db, createManagementKey, { name: 'ci', ...given }, secrets.KEY_PEPPER)).key;

  it('are the operator’s alone', async () => {
    const { slug, id } = await stack.workspace();
    const wanted = { amount: '5', reason: 'gift' };
    for (const role of roles) {
      const refused = await post(await keyOf({ workspace: slug, role }), slug, wanted);
      expect(refused).toMatchObject({ status: 403, body: { error: { code: 'permission_denied' } } });
      expect(refused.body.error.message).toContain('operator');
    }
    expect(await balanceOf(id)).toBe(0n);
    expect(await post(await keyOf({ operator: true }), slug, wanted)).toMatchObject({
      status: 201,
      body: { balance: '5' },
    });
  });

  it('are posted once for one Idempotency-Key, however often it is sent', async () => {
    const { slug, id } = await stack.workspace();
    const token = await keyOf({ operator: true });
    const once = { 'idempotency-key': `credit-${slug}` };
    const send = () => post(token, slug, { amount: '5', reason: 'gift' }, once);
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    expect(new Set(answers.map(({ body }) => body.ref)).size).toBe(1);
    expect(await balanceOf(id)).toBe(5_000_000_000n);
  });
});

it('the ledger, the calls and the usage of a workspace are read with its own management key alone', async () => {
  const [own, other] = [await stack.workspace(), await stack.workspace()];
  const given = { workspace: own.slug, name: 'ci', role: 'viewer' };
  const { key } = await operate(stack.db, createManagementKey, given, secrets.KEY_PEPPER);
  const api = await operate(stack.db, createKey, { workspace: own.slug, name: 'k' }, secrets.KEY_PEPPER);
  const read = async (slug: string, path: string, token = key) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${stack.url}/api/v1/workspaces/${slug}/${path}`, { headers });
    return { status: answer.status, body: await answer.json() };
  };
  for (const path of ['ledger', 'calls', 'calls?status=4xx&limit=3'])
    expect(await read(own.slug, path), path).toEqual({ status: 200, body: { data: [], next: null } });
  expect(await read(own.slug, 'usage?by=day')).toMatchObject({ status: 200, body: { by: 'day', cost: '0' } });
  for (const path of ['ledger', 'calls', 'usage', 'calls/0190c7b2-0000-7000-8000-000000000000']) {
    expect((await read(other.slug, path)).status, path).toBe(404);
    expect((await read(own.slug, path, api.key)).status, path).toBe(401);
  }
  const bad = await read(own.slug, 'calls?model=a%00b');
  expect(bad).toMatchObject({ status: 400, body: { error: { code: 'invalid_body' } } });
  expect(bad.body.error.message).toMatch(/^model: /);
});
