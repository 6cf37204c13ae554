import { z } from 'zod';
import { userOf } from '#lib/control/operations/actor';
import { change, create, read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { count, id as idField, isUuid, line, time, words } from '#lib/control/operations/field/kinds';
import { closePlaygrounds } from '#lib/control/operations/playground/close';
import { badInput, notFound } from '#lib/control/operations/refusal';

/** Maximum for a user; a new session ends the one that was not used for the longest time. */
const mostSessions = 50;

export const startSession = create({
  name: 'session.start',
  summary: 'Starts a session of the console for a user who has just signed in.',
  reach: 'self',
  permission: null,
  fields: {
    id: idField({ label: 'Session', help: 'Its id.' }),
    version: count(
      { label: 'Version', help: 'Session version of the user, as read with the password.', unit: 'version' },
      { min: 1, max: 2 ** 31 - 1 },
    ),
    method: words({ label: 'Method', help: 'How the user signed in.', example: 'password' }, 20),
    endsAt: time({ label: 'Ends', help: 'When its cookie expires.' }),
    userAgent: optional(line({ label: 'Browser', help: 'The browser’s User-Agent.' })),
  },
  output: z.object({ id: z.uuid() }),
  run: async ({ store, actor, nowMs }, { id, version, method, endsAt, userAgent = null }) => {
    const userId = userOf(actor);
    if (userId === null) throw notFound('only users have sessions');
    if (!isUuid(id)) throw badInput('id', 'must be the id of a session');
    const { session } = store.prisma;
    const address = actor.address;
    await session.create({ data: { id, userId, version, method, endsAt, userAgent, address } });
    const own = await session.findMany({
      where: { userId },
      orderBy: { seenAt: 'desc' },
      skip: mostSessions,
      select: { id: true },
    });
    const ids = own.map((one) => one.id);
    const changes = await closePlaygrounds(store, { userId, ids });
    await session.deleteMany({ where: { id: { in: ids } } });
    await store.execute(
      `DELETE FROM session WHERE id IN (SELECT id FROM session
         WHERE ends_at < $1 LIMIT 100 FOR UPDATE SKIP LOCKED)`,
      [new Date(nowMs)],
    );
    return { result: { id }, subject: id, before: null, after: { method }, changes };
  },
});

export const listSessions = read({
  name: 'session.list',
  summary: 'Lists your sessions, latest first.',
  reach: 'self',
  permission: null,
  output: z.object({
    data: z.array(
      z.object({
        id: z.uuid(),
        current: z.boolean(),
        method: z.string(),
        userAgent: z.string().nullable(),
        address: z.string().nullable(),
        createdAt: z.iso.datetime(),
        seenAt: z.iso.datetime(),
      }),
    ),
  }),
  run: async ({ store, actor, nowMs }) => {
    const userId = userOf(actor);
    if (userId === null) return { data: [] };
    const user = await store.prisma.user.findUnique({
      where: { id: userId },
      select: { sessionVersion: true, sessions: { orderBy: { seenAt: 'desc' } } },
    });
    const current = actor.kind === 'user' ? actor.sessionId : undefined;
    const data = (user?.sessions ?? [])
      .filter(({ version, endsAt }) => version === user?.sessionVersion && endsAt.getTime() > nowMs)
      .map(({ id, method, userAgent, address, createdAt, seenAt }) => ({
        id,
        method,
        userAgent,
        address,
        current: id === current,
        createdAt: createdAt.toISOString(),
        seenAt: seenAt.toISOString(),
      }));
    return { data: data.sort((a, b) => Number(b.current) - Number(a.current)) };
  },
});

export const endSession = change({
  name: 'session.end',
  summary: 'Ends one of your sessions; copies of its cookie no longer work.',
  reach: 'self',
  permission: null,
  fields: { id: idField({ label: 'Session', help: 'Its id.' }) },
  output: z.object({ id: z.string() }),
  run: async ({ store, actor }, { id }) => {
    const userId = userOf(actor);
    if (userId === null || !isUuid(id)) throw notFound('there is no such session; reload the page', 'id');
    const changes = await closePlaygrounds(store, { userId, ids: [id] });
    const { count: ended } = await store.prisma.session.deleteMany({ where: { id, userId } });
    // Already ended in another tab, or another user's: nothing is changed.
    const before = { ended: ended === 0 };
    return { result: { id }, subject: id, before, after: { ended: true }, changes };
  },
});

export const endAllSessions = change({
  name: 'session.end-all',
  summary: 'Signs you out everywhere, including sign-ins at that moment.',
  reach: 'self',
  permission: null,
  output: z.object({ ended: z.int() }),
  run: async ({ store, actor }) => {
    const id = userOf(actor);
    if (id === null) throw notFound('only users have sessions');
    const { sessionVersion: after } = await store.prisma.user.update({
      where: { id },
      data: { sessionVersion: { increment: 1 } },
    });
    const changes = await closePlaygrounds(store, { userId: id });
    const { count: ended } = await store.prisma.session.deleteMany({ where: { userId: id } });
    return {
      result: { ended },
      subject: id,
      changes,
      before: { sessionVersion: after - 1 },
      after: { sessionVersion: after },
      detail: { ended },
    };
  },
});

export const sessionOperations = [startSession, listSessions, endSession, endAllSessions];
