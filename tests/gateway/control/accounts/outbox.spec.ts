import { beforeEach, describe, expect, it } from 'vitest';
import { requestReset } from '#lib/control/operations/user/reset';
import { asks, newcomer, newEmail, openTestOutbox, tokensIn } from '#tests/gateway/control/accounts/people';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
beforeEach(() => db.prisma.mail.deleteMany());

describe('the outbox (contract: control-plane/mail)', () => {
  it('is shared by several processes, each mail sent by one of them', async () => {
    const people = [];
    for (let n = 0; n < 12; n++) people.push(await newcomer(db));
    const boxes = [openTestOutbox(db), openTestOutbox(db), openTestOutbox(db)];
    const sent = () => boxes.flatMap(({ letters }) => letters);
    await expect.poll(() => sent().length).toBe(12);
    for (const { outbox } of boxes) outbox.wake();
    await Promise.all(boxes.map(({ outbox }) => outbox.stop()));
    expect(
      sent()
        .map(({ to }) => to)
        .sort(),
    ).toEqual(people.map(({ email }) => email).sort());
    expect(await db.prisma.mail.count({ where: { sentAt: { not: null }, nextTryAt: null } })).toBe(12);
  });

  it('tries again what a server did not take, with a new link, and keeps why', async () => {
    const { email } = await newcomer(db);
    let failing = true;
    const { outbox, letters, errors } = openTestOutbox(db, async () => {
      if (failing) throw new Error('451 try later\u0000');
    });
    await expect.poll(() => db.prisma.mail.count({ where: { error: { contains: '451' } } })).toBe(1);
    expect(letters).toEqual([]);
    expect(String(errors[0])).toMatch(/was not sent: 451/);
    failing = false;
    await db.pool.query(`UPDATE mail SET next_try_at = now() - interval '1 s'`);
    outbox.wake();
    await expect.poll(() => tokensIn(letters, email).length).toBe(1);
    await outbox.stop();
    expect(await db.prisma.mail.findFirst()).toMatchObject({ tries: 2, error: null, nextTryAt: null });
  });

  it('gives what a dead process had taken to another one after two minutes', async () => {
    const { email } = await newcomer(db);
    const hanging = Promise.withResolvers<void>();
    const hung = openTestOutbox(db, () => hanging.promise);
    await expect.poll(() => db.prisma.mail.count({ where: { tries: 1 } })).toBe(1);
    // The looks beside the one that found it have ended: a late one would take it again.
    await expect.poll(() => db.pool.waitingCount + db.pool.totalCount - db.pool.idleCount).toBe(0);
    const other = openTestOutbox(db);
    other.outbox.wake();
    await other.outbox.stop();
    expect(other.letters).toEqual([]);
    await db.pool.query(`UPDATE mail SET next_try_at = next_try_at - interval '2 minutes'`);
    const third = openTestOutbox(db);
    await expect.poll(() => tokensIn(third.letters, email).length).toBe(1);
    await third.outbox.stop();
    hanging.resolve();
    await hung.outbox.stop();
  });

  it('sends nothing that has run out, and holds no link', async () => {
    const { email } = await newcomer(db);
    await asks(db, requestReset, { email: newEmail() });
    expect(JSON.stringify(await db.prisma.mail.findMany())).not.toMatch(/token|http/);
    await db.pool.query(`UPDATE mail SET expires_at = now() - interval '1 s'`);
    const { outbox, letters } = openTestOutbox(db);
    outbox.wake();
    await outbox.stop();
    expect(letters).toEqual([]);
    expect(await db.prisma.accountToken.count({ where: { user: { email } } })).toBe(0);
  });
});
