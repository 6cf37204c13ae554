import { describe, expect, it } from 'vitest';
import {
  createAnnouncement,
  currentAnnouncements,
  endAnnouncement,
  listAnnouncements,
} from '#lib/control/operations/announcement/operations';
import { ask } from '#lib/control/operations/run';
import { controlHost, operate } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
/** What anybody who is signed in is shown. */
const shown = async () => {
  const actor = {
    kind: 'user',
    userId: '00000000-0000-7000-8000-0000000000aa',
    operator: false,
    address: null,
  } as const;
  return (await ask(controlHost(db), currentAnnouncements, { actor, input: {} })).data.map(
    ({ text }) => text,
  );
};

describe('announcements (contract: control-plane/announcements)', () => {
  it('are shown to everybody from their first moment to their last', async () => {
    await operate(db, createAnnouncement, { text: 'now' });
    await operate(db, createAnnouncement, { text: 'later', from: inHours(1), until: inHours(2) });
    const { id } = await operate(db, createAnnouncement, {
      text: 'short',
      until: inHours(1),
      tone: 'warning',
    });
    expect(await shown()).toEqual(['short', 'now']);
    await db.pool.query(`UPDATE announcement SET until_at = now() - interval '1 second' WHERE id = $1`, [id]);
    expect(await shown()).toEqual(['now']);
    const { data } = await operate(db, listAnnouncements, {});
    expect(data.map(({ text, state, tone }) => [text, state, tone])).toEqual([
      ['short', 'over', 'warning'],
      ['later', 'planned', 'info'],
      ['now', 'shown', 'info'],
    ]);
  });

  it('are ended once, and leave one row in the audit log for it', async () => {
    const { id } = await operate(db, createAnnouncement, { text: 'soon gone' });
    await operate(db, endAnnouncement, { id });
    await operate(db, endAnnouncement, { id });
    expect(await shown()).not.toContain('soon gone');
    expect(await db.prisma.audit.count({ where: { subject: id, action: 'announcement.end' } })).toBe(1);
  });

  it('are refused where they would never be shown', async () => {
    const over = operate(db, createAnnouncement, { text: 'x', from: inHours(2), until: inHours(1) });
    await expect(over).rejects.toMatchObject({ field: 'until' });
    await expect(operate(db, createAnnouncement, { text: 'x', until: inHours(-1) })).rejects.toMatchObject({
      field: 'until',
    });
  });
});
