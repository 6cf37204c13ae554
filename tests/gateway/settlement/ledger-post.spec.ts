import { describe, expect, it } from 'vitest';
import { type Posting, postLine } from '#lib/gateway/ledger/post-line';
import { publish, sqlOf } from '#lib/platform/data/change';
import { eventually } from '#tests/support/eventually';
import { openOwnDatabase } from '#tests/support/postgres/own-database';
import { createCustomer, newId } from '#tests/support/settlement';

const db = await openOwnDatabase();

const posting = (workspaceId: string, given: Partial<Posting> = {}): Posting => ({
  workspaceId,
  kind: 'top_up',
  ref: `pi_${newId()}`,
  amountNano: 5_000_000_000n,
  reason: null,
  ...given,
});

/** On a busy machine many transactions at once take longer than Prisma lets them. */
const unhurried = { maxWait: 60_000, timeout: 60_000 };

/** @returns whether it was posted. */
const post = (line: Posting) =>
  db.prisma.$transaction(async (tx) => {
    const changes = await postLine(sqlOf(tx), line);
    await publish(sqlOf(tx), changes ?? []);
    return changes !== null;
  }, unhurried);

async function balanceOf(workspaceId: string): Promise<bigint> {
  return (await db.prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId } })).balanceNano;
}

/** How many statements of that shape wait for a lock of another transaction. */
async function waitingFor(statement: string): Promise<number> {
  const { rows } = await db.pool.query<{ waiting: number }>(
    `SELECT count(*)::int AS waiting FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
    [statement],
  );
  return rows[0]?.waiting ?? 0;
}

const changesOf = (subject: string) =>
  db.prisma.change.findMany({ where: { subject }, select: { kind: true, subject: true } });

describe('a ledger line (contract: money/events)', () => {
  it('moves the balance with it, and informs every process', async () => {
    const { workspaceId } = await createCustomer(db.pool, { balanceNano: 1n });
    expect(await post(posting(workspaceId, { reason: 'paid' }))).toBe(true);
    expect(await balanceOf(workspaceId)).toBe(5_000_000_001n);
    expect(await db.prisma.ledgerLine.findMany({ where: { workspaceId, kind: 'top_up' } })).toMatchObject([
      { amountNano: 5_000_000_000n, reason: 'paid' },
    ]);
    expect(await changesOf(workspaceId)).toEqual([{ kind: 'workspace', subject: workspaceId }]);
  });

  it('is posted once per kind and ref, however many post it at the same moment', async () => {
    const { workspaceId } = await createCustomer(db.pool, { balanceNano: 0n });
    const line = posting(workspaceId);
    const posted = await Promise.all(Array.from({ length: 8 }, () => post(line)));
    expect(posted.filter(Boolean)).toHaveLength(1);
    expect(await balanceOf(workspaceId)).toBe(5_000_000_000n);
    expect(await post({ ...line, kind: 'refund', amountNano: -5_000_000_000n })).toBe(true);
    expect(await balanceOf(workspaceId)).toBe(0n);
  });

  it('that takes money asks the leases of that workspace back, of no other, and may end below zero', async () => {
    const [mine, other] = [
      await createCustomer(db.pool, { balanceNano: 10n }),
      await createCustomer(db.pool),
    ];
    const ownerId = newId();
    await db.pool.query(
      `INSERT INTO owner (id, machine, pid, expires_at) VALUES ($1, 'm', 1, now() + interval '1 hour')`,
      [ownerId],
    );
    for (const { workspaceId } of [mine, other]) {
      await db.pool.query(
        `INSERT INTO lease (owner_id, kind, subject_id, granted_nano) VALUES ($1, 'workspace', $2, 5)`,
        [ownerId, workspaceId],
      );
    }
    await post(posting(mine.workspaceId));
    expect((await db.prisma.lease.findMany({ where: { ownerId, recalledAt: { not: null } } })).length).toBe(
      0,
    );
    await post(posting(mine.workspaceId, { kind: 'dispute', amountNano: -6_000_000_000n }));
    expect(await balanceOf(mine.workspaceId)).toBe(-999_999_990n);
    const recalled = await db.prisma.lease.findMany({ where: { ownerId, recalledAt: { not: null } } });
    expect(recalled.map((lease) => lease.subjectId)).toEqual([mine.workspaceId]);
    expect(await changesOf(`workspace:${mine.workspaceId}`)).toEqual([
      { kind: 'lease', subject: `workspace:${mine.workspaceId}` },
    ]);
  });

  it('leaves nothing behind when its transaction fails, and needs a workspace', async () => {
    const { workspaceId } = await createCustomer(db.pool, { balanceNano: 0n });
    const failed = db.prisma.$transaction(async (tx) => {
      await postLine(sqlOf(tx), posting(workspaceId));
      throw new Error('the rest failed');
    }, unhurried);
    await expect(failed).rejects.toThrow('the rest failed');
    expect(await balanceOf(workspaceId)).toBe(0n);
    expect(await db.prisma.ledgerLine.count({ where: { workspaceId, kind: 'top_up' } })).toBe(0);
    await expect(post(posting(newId()))).rejects.toThrow();
  });

  it('needs a workspace, however it is written and however many come at once', async () => {
    const { workspaceId } = await createCustomer(db.pool);
    const lines = db.pool.query(
      `INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano)
       SELECT gen_random_uuid(), w, 'adjustment', gen_random_uuid()::text, 1 FROM unnest($1::uuid[]) AS w`,
      [[workspaceId, workspaceId, newId()]],
    );
    await expect(lines).rejects.toMatchObject({ code: '23503', table: 'ledger_line' });
    expect(await db.prisma.ledgerLine.count({ where: { workspaceId } })).toBe(1);
  });

  it('keeps its workspace, even one that is deleted while it is posted', async () => {
    const { workspaceId } = await createCustomer(db.pool);
    const remove = () => db.pool.query('DELETE FROM workspace WHERE id = $1', [workspaceId]);
    await expect(remove()).rejects.toMatchObject({ code: '23503' });
    const renamed = db.pool.query('UPDATE workspace SET id = $2 WHERE id = $1', [workspaceId, newId()]);
    await expect(renamed).rejects.toMatchObject({ code: '23503' });

    const empty = newId();
    await db.pool.query(`INSERT INTO workspace (id, slug, name) VALUES ($1, $2, 'empty')`, [
      empty,
      `w-${empty}`,
    ]);
    const client = await db.pool.connect();
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano) VALUES ($1, $2, 'adjustment', $3, 1)`,
      [newId(), empty, newId()],
    );
    const removal = db.pool.query('DELETE FROM workspace WHERE id = $1', [empty]);
    const refused = expect(removal).rejects.toMatchObject({ code: '23503' });
    await eventually(() => waitingFor('DELETE FROM workspace%'), 1);
    await client.query('COMMIT');
    client.release();
    await refused;
  });

  it('is final: it can be neither changed nor deleted', async () => {
    const { workspaceId } = await createCustomer(db.pool);
    const change = db.pool.query('UPDATE ledger_line SET amount_nano = 1 WHERE workspace_id = $1', [
      workspaceId,
    ]);
    await expect(change).rejects.toThrow('append-only');
    const removal = db.pool.query('DELETE FROM ledger_line WHERE workspace_id = $1', [workspaceId]);
    await expect(removal).rejects.toThrow('append-only');
  });
});
