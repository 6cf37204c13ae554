import { z } from 'zod';
import type { Announcement } from '#generated/client';
import { change, create, read, type State } from '#lib/control/operations/declare';
import { allOptional } from '#lib/control/operations/field/field';
import { choice, expiry, id as idField, isUuid, time, words } from '#lib/control/operations/field/kinds';
import { limitOf, pageOf, paging } from '#lib/control/operations/field/paging';
import { badInput, notFound, quoted } from '#lib/control/operations/refusal';
import { newRowId } from '#lib/platform/data/row-id';

const announcements = '/announcements';
const tones = ['info', 'warning'] as const;
/** The most that are shown above a page. */
const mostAtOnce = 5;

const shownAnnouncement = z.object({
  id: z.uuid(),
  text: z.string(),
  tone: z.enum(tones),
  from: z.iso.datetime(),
  until: z.iso.datetime().nullable().describe('null: until an operator ends it.'),
  state: z.enum(['planned', 'shown', 'over']),
});
export type ShownAnnouncement = z.output<typeof shownAnnouncement>;

export const createAnnouncement = create({
  name: 'announcement.create',
  summary: 'Shows an announcement above every page of the console.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: {
    text: words(
      {
        label: 'Text',
        help: 'One or two sentences.',
        example: 'On Sunday at 6:00 UTC, calls may be refused for five minutes.',
      },
      500,
    ),
    ...allOptional({
      tone: choice({ label: 'Tone', help: 'Default: info.', example: 'info' }, tones),
      from: time({ label: 'From', help: 'Default: now.', example: '2026-11-29T00:00:00Z' }),
      until: expiry({
        label: 'Until',
        help: 'Default: until an operator ends it.',
        empty: 'Until ended',
      }),
    }),
  },
  output: z.object({ id: z.uuid() }),
  http: [{ method: 'POST', path: announcements }],
  line: { arguments: ['text'] },
  text: ({ id }) => `announcement ${id} created`,
  run: async ({ store, nowMs }, { text, tone = 'info', from, until = null }) => {
    const fromAt = from ?? new Date(nowMs);
    if (until !== null && until.getTime() <= Math.max(nowMs, fromAt.getTime())) {
      throw badInput('until', 'it would end before it is shown; choose a later time');
    }
    const id = newRowId();
    const row = await store.prisma.announcement.create({ data: { id, text, tone, fromAt, untilAt: until } });
    const after = stateOfRow(row);
    return { result: { id }, subject: id, before: null, after };
  },
});

export const endAnnouncement = change({
  name: 'announcement.end',
  summary: 'Ends an announcement; ending it again changes nothing.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: { id: idField({ label: 'Announcement', help: 'Its id.' }) },
  output: z.object({ id: z.uuid() }),
  http: [{ method: 'POST', path: `${announcements}/{id}/end` }],
  line: { arguments: ['id'] },
  text: ({ id }) => `announcement ${id} ended`,
  run: async ({ store, nowMs }, { id }) => {
    const found = isUuid(id)
      ? await store.query('SELECT 1 AS one FROM announcement WHERE id = $1::uuid FOR UPDATE', [id])
      : [];
    if (found.length === 0) throw notFound(`there is no announcement ${quoted(id)}; check its id`, 'id');
    const row = await store.prisma.announcement.findUniqueOrThrow({ where: { id } });
    const over = row.untilAt !== null && row.untilAt.getTime() <= nowMs;
    const ended = over
      ? row
      : await store.prisma.announcement.update({ where: { id }, data: { untilAt: new Date(nowMs) } });
    return {
      result: { id },
      subject: id,
      before: stateOfRow(row),
      after: stateOfRow(ended),
    };
  },
});

export const listAnnouncements = read({
  name: 'announcement.list',
  summary: 'Lists all announcements, newest first.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: paging,
  output: pageOf(shownAnnouncement),
  http: [{ method: 'GET', path: announcements }],
  line: {},
  run: async ({ store, nowMs }, input) => {
    if (input.after !== undefined && !isUuid(input.after))
      throw badInput('after', 'this is not the "next" of a page of announcements');
    const limit = limitOf(input);
    const rows = await store.prisma.announcement.findMany({
      where: input.after === undefined ? {} : { id: { lt: input.after } },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
    const page = rows.slice(0, limit);
    return {
      data: page.map((row) => shown(row, nowMs)),
      next: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
    };
  },
});

/** What the console shows above its pages. */
export const currentAnnouncements = read({
  name: 'announcement.current',
  summary: 'Lists the announcements that are shown now, newest first.',
  reach: 'self',
  permission: null,
  output: pageOf(shownAnnouncement),
  run: async ({ store, nowMs }) => {
    const now = new Date(nowMs);
    const rows = await store.prisma.announcement.findMany({
      where: { fromAt: { lte: now }, OR: [{ untilAt: null }, { untilAt: { gt: now } }] },
      orderBy: [{ fromAt: 'desc' }, { id: 'desc' }],
      take: mostAtOnce,
    });
    return { data: rows.map((row) => shown(row, nowMs)), next: null };
  },
});

export const announcementOperations = [
  createAnnouncement,
  endAnnouncement,
  listAnnouncements,
  currentAnnouncements,
];

function shown({ id, text, tone, fromAt, untilAt }: Announcement, nowMs: number): ShownAnnouncement {
  const over = untilAt !== null && untilAt.getTime() <= nowMs;
  return {
    id,
    text,
    tone: tones.find((one) => one === tone) ?? 'info',
    from: fromAt.toISOString(),
    until: untilAt?.toISOString() ?? null,
    state: over ? 'over' : fromAt.getTime() > nowMs ? 'planned' : 'shown',
  };
}

function stateOfRow({ text, tone, fromAt, untilAt }: Announcement): State {
  return { text, tone, from: fromAt.toISOString(), until: untilAt?.toISOString() ?? null };
}
