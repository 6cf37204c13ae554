import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { tellAlerts } from '#lib/control/alerts/raise';
import type { Actor } from '#lib/control/operations/actor';
import { showKey } from '#lib/control/operations/key/operations';
import { visitWorkspace } from '#lib/control/operations/user/own';
import { showMonth } from '#lib/control/operations/workspace/month';
import { setWorkspace, showWorkspace } from '#lib/control/operations/workspace/operations';
import { monthOf } from '#lib/core/charts/ranges';
import type { Role } from '#lib/core/role';
import { addMember, createKey, createUser, createWorkspace, operate } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
const dayMs = 86_400_000;

/** A correction of a call, which the ledger takes with any time. */
async function spend(workspaceId: string, atMs: number, nano: bigint): Promise<void> {
  await db.pool.query(
    `INSERT INTO ledger_line (id, workspace_id, at, kind, ref, amount_nano, key_id)
     VALUES (gen_random_uuid(), $1, $2, 'adjustment', $3, $4, gen_random_uuid())`,
    [workspaceId, new Date(atMs).toISOString(), randomUUID(), `${-nano}`],
  );
}

async function newWorkspace(settings: Record<string, unknown> = {}) {
  const { id, slug } = await createWorkspace(db, { name: 'Budget', credit: '100', ...settings });
  const email = (role: string) => `${role}@${slug}.example`;
  const as = async (role: Role, input: Record<string, unknown>) => {
    const user = await db.prisma.user.findUniqueOrThrow({ where: { email: email(role) } });
    const actor: Actor = { kind: 'user', userId: user.id, operator: false, address: null };
    return operate(db, setWorkspace, { workspace: slug, ...input }, undefined, actor);
  };
  for (const role of ['owner', 'admin', 'developer', 'billing', 'viewer']) {
    await createUser(db, { email: email(role), password: 'long enough' });
    await addMember(db, { workspace: slug, email: email(role), role });
  }
  const read = () => operate(db, showWorkspace, { workspace: slug });
  const month = () => operate(db, showMonth, { workspace: slug });
  return { id, slug, as, read, month, email };
}

describe('the budget of a workspace (contract: money/budget)', () => {
  it('is set by those who manage billing, and by nobody else; they may change no other setting', async () => {
    const { as, read } = await newWorkspace();
    expect(await read()).toMatchObject({ budget: null, budgetMode: 'warning' });
    await as('billing', { budget: '25.5', budgetMode: 'hard' });
    expect(await read()).toMatchObject({ budget: '25.5', budgetMode: 'hard' });
    await as('admin', { budget: '30' });
    await expect(as('developer', { budget: '1' })).rejects.toThrow(
      'requires the role owner, admin or billing',
    );
    await expect(as('viewer', { budgetMode: 'warning' })).rejects.toThrow('requires the role');
    await expect(as('billing', { name: 'Mine', budget: '1' })).rejects.toThrow(
      'requires the role owner or admin',
    );
    await expect(as('billing', { strict: true })).rejects.toThrow('requires the role owner or admin');
    await expect(as('admin', { budget: '0' })).rejects.toThrow('a cap must be more than 0 dollars');
    expect(await read()).toMatchObject({ budget: '30', budgetMode: 'hard', name: 'Budget', strict: false });
    await as('owner', { budget: null });
    expect(await read()).toMatchObject({ budget: null });
  });

  it('recalls leases when it begins to bind in another way', async () => {
    const { id, as } = await newWorkspace();
    const recalled = async () => {
      const subject = `workspace:${id}`;
      const { rowCount } = await db.pool.query("DELETE FROM change WHERE kind = 'lease' AND subject = $1", [
        subject,
      ]);
      return rowCount;
    };
    await as('admin', { budget: '30' });
    expect(await recalled()).toBe(0);
    await as('admin', { budgetMode: 'hard' });
    expect(await recalled()).toBe(1);
    await as('admin', { budget: '20' });
    expect(await recalled()).toBe(1);
    await as('admin', { timeZone: 'America/Havana' });
    expect(await recalled()).toBe(1);
    await as('admin', { name: 'Other', rpm: 5 });
    await as('admin', { budgetMode: 'warning' });
    expect(await recalled()).toBe(0);
  });

  it('is shown with what was spent, what is left and when it resets, in the zone of the workspace', async () => {
    const zone = 'Pacific/Kiritimati';
    const { id, month } = await newWorkspace({ timeZone: zone, budget: '10' });
    const { fromMs, toMs } = monthOf(Date.now(), zone);
    await spend(id, fromMs - 1, 5_000_000_000n);
    await spend(id, fromMs, 1_500_000_000n);
    expect(await month()).toEqual({
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      spent: '1.5',
      forecast: null,
      budget: { amount: '10', mode: 'warning', left: '8.5', used: 0.15 },
    });
    await spend(id, fromMs, 9_000_000_000n);
    expect((await month()).budget).toMatchObject({ left: '0', used: 1.05 });
  });

  it('that is used up is what the workspace, its keys and the sidebar say, if it is hard', async () => {
    const { id, slug, as, read } = await newWorkspace({ budget: '10' });
    const key = await createKey(db, { workspace: slug, name: 'web' });
    const refusing = async () => [
      (await read()).refusing,
      (await operate(db, showKey, { workspace: slug, id: key.id })).refusing,
    ];
    const visited = async () => (await operate(db, visitWorkspace, { workspace: slug })).budgetUsedUp;
    await spend(id, Date.now(), 10_000_000_000n);
    expect(await refusing()).toEqual([null, null]);
    expect(await visited()).toBe(false);
    await as('billing', { budgetMode: 'hard' });
    const until = new Date(monthOf(Date.now(), 'UTC').toMs).toISOString();
    const budget = { cause: 'budget', code: 'insufficient_balance', until, latest: null };
    expect(await refusing()).toEqual([budget, budget]);
    expect(await visited()).toBe(true);
    await as('billing', { budget: '10.01' });
    expect(await refusing()).toEqual([null, null]);
  });

  it('of another workspace is neither shown nor counted', async () => {
    const [one, other] = [await newWorkspace({ budget: '10', budgetMode: 'hard' }), await newWorkspace()];
    await spend(other.id, Date.now(), 50_000_000_000n);
    expect(await one.month()).toMatchObject({ spent: '0', budget: { left: '10' } });
    expect((await one.read()).refusing).toBeNull();
    expect(await other.month()).toMatchObject({ spent: '50', budget: null });
  });

  it('raises an alert at 80% and at 100%, once each, also to members who manage billing', async () => {
    const { id, email } = await newWorkspace({ budget: '10', budgetMode: 'hard' });
    const tell = () => Promise.all(Array.from({ length: 4 }, () => tellAlerts(db.pool, Date.now())));
    const mails = async () =>
      (
        await db.prisma.mail.findMany({
          where: { recipient: { in: ['owner', 'admin', 'developer', 'billing', 'viewer'].map(email) } },
          orderBy: [{ createdAt: 'asc' }, { recipient: 'asc' }],
        })
      ).map(({ recipient }) => recipient.split('@')[0]);
    const alerts = () => db.prisma.alert.findMany({ where: { workspaceId: id }, orderBy: { id: 'asc' } });
    await spend(id, Date.now() - 40 * dayMs, 100_000_000_000n);
    await spend(id, Date.now(), 7_999_999_999n);
    await tell();
    expect(await alerts()).toEqual([]);
    await spend(id, Date.now(), 1n);
    await tell();
    const resetsAt = new Date(monthOf(Date.now(), 'UTC').toMs).toISOString();
    const facts = { mode: 'hard', spent: '8', budget: '10', resetsAt };
    expect(await alerts()).toMatchObject([{ kind: 'budget', facts: { ...facts, level: 80 } }]);
    expect(await mails()).toEqual(['admin', 'billing', 'owner']);
    await spend(id, Date.now(), 2_000_000_000n);
    await tell();
    expect(await alerts()).toMatchObject([{}, { facts: { ...facts, level: 100, spent: '10' } }]);
    expect(await mails()).toHaveLength(6);
  });
});

it('the forecast begins a day after the first spend (contract: money/forecast)', async () => {
  const { id, month } = await newWorkspace();
  const nowMs = Date.now();
  await spend(id, nowMs - 3 * dayMs, 6_000_000_000n);
  expect((await month()).forecast).toBeNull();
  const at = new Date(Math.floor((nowMs - 3 * dayMs) / 900_000) * 900_000);
  await db.pool.query('ALTER TABLE ledger_line DISABLE TRIGGER ledger_line_usage_in_time');
  await db.pool.query(
    `INSERT INTO ledger_line (id, workspace_id, at, kind, ref, amount_nano, calls)
     VALUES (gen_random_uuid(), $1, $2, 'usage', to_char($2::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), -1, 1)`,
    [id, at.toISOString()],
  );
  await db.pool.query('ALTER TABLE ledger_line ENABLE TRIGGER ledger_line_usage_in_time');
  const { forecast, spent, to } = await month();
  const left = (Date.parse(to) - nowMs) / dayMs;
  expect(forecast?.days).toBe(3);
  expect(Number(forecast?.amount)).toBeCloseTo(Number(spent) + 2 * left, 0);
});
