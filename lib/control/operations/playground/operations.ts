import { z } from 'zod';
import { type Context, change } from '#lib/control/operations/declare';
import { demoKey, newSecret } from '#lib/control/operations/key/secret';
import { ControlRefused } from '#lib/control/operations/refusal';
import { newRowId } from '#lib/platform/data/row-id';

/** How long a secret of the playground works; the page then requests the next one. */
const lifeMs = 30 * 60_000;

interface Opened {
  readonly id: string;
  readonly made: boolean;
}

/**
 * One key for each session and workspace, so that log and usage show one playground; its secret is replaced each time.
 * The previous secret works until its own end, because another tab may be using it.
 */
const open = `
  INSERT INTO api_key AS k (id, workspace_id, name, hash, display_start, display_end, models, created_by, session_id,
    expires_at)
  VALUES ($1::uuid, $2::uuid, $3, $4::bytea, $5, $6, '{}', $7::uuid, $8::uuid, $9::timestamptz)
  ON CONFLICT (session_id, workspace_id) DO UPDATE SET name = excluded.name, hash = excluded.hash,
    display_start = excluded.display_start, display_end = excluded.display_end, expires_at = excluded.expires_at,
    old_hash = k.hash, old_hash_until = k.expires_at, old_display = k.display_start || '…' || k.display_end
  RETURNING k.id::text AS id, k.xmax = 0 AS made`;

export const openPlayground = change({
  name: 'playground.open',
  summary:
    'Creates the playground key of this session, or gives it a new secret, which works for half an hour.',
  reach: 'workspace',
  permission: 'playground:use',
  output: z.object({
    key: z.string().describe('The key itself.'),
    expiresAt: z.iso.datetime(),
  }),
  run: async (context) => {
    const { store, scope, nowMs, keyPepper } = context;
    if (scope.demo) throw demoKey();
    const { sessionId, endsAt, user, member } = await ownSession(context);
    const { key, columns } = newSecret(keyPepper);
    const expiresAt = new Date(Math.min(nowMs + lifeMs, endsAt.getTime()));
    const name = `Playground of ${user.name ?? user.email}`.slice(0, 100);
    const [row] = await store.query<Opened>(open, [
      ...[newRowId(), scope.workspaceId, name, columns.hash, columns.displayStart, columns.displayEnd],
      ...[member ? user.id : null, sessionId, expiresAt],
    ]);
    if (row === undefined) throw noSession();
    return {
      result: { key, expiresAt: expiresAt.toISOString() },
      subject: row.id,
      before: row.made ? null : { name },
      after: { name, expiresAt: expiresAt.toISOString() },
      changes: [{ kind: 'key', subject: row.id }],
    };
  },
});

export const playgroundOperations = [openPlayground];

/** @throws ControlRefused permission_denied if the caller has no session. */
async function ownSession({ store, scope, actor }: Context<'workspace'>) {
  const sessionId = actor.kind === 'user' ? actor.sessionId : undefined;
  const session =
    sessionId === undefined
      ? null
      : await store.prisma.session.findUnique({ where: { id: sessionId }, include: { user: true } });
  if (sessionId === undefined || session === null) throw noSession();
  const where = { workspaceId_userId: { workspaceId: scope.workspaceId, userId: session.userId } };
  const member = await store.prisma.member.findUnique({ where, select: { role: true } });
  return { sessionId, endsAt: session.endsAt, user: session.user, member };
}

function noSession() {
  return new ControlRefused(
    'permission_denied',
    'the playground needs a session of the console; sign in there, or create an API key to make calls',
  );
}
