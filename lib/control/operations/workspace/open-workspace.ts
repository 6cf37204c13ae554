import { z } from 'zod';
import { create } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { checkVerified } from '#lib/control/operations/reach';
import { conflict, notFound } from '#lib/control/operations/refusal';
import {
  newWorkspaceLimits,
  stateOfRow,
  workspaceSettings,
} from '#lib/control/operations/workspace/settings';
import { insertWorkspace } from '#lib/control/operations/workspace/slug';
import { newRowId } from '#lib/platform/data/row-id';

/** How many workspaces somebody may own. */
const mostOwned = 20;

/** Without money it makes no calls; the credit of signing up was given once (contract: control-plane/sign-up-credit). */
export const openWorkspace = create({
  name: 'workspace.open',
  summary: 'Makes a workspace of which whoever is signed in is the owner; at most 20.',
  reach: 'self',
  permission: null,
  fields: { name: workspaceSettings.name, timeZone: optional(workspaceSettings.timeZone) },
  output: z.object({ id: z.uuid(), slug: z.string() }),
  http: [],
  line: null,
  run: async ({ store, actor }, { name, timeZone = 'UTC' }) => {
    if (actor.kind !== 'user') throw notFound('sign in first');
    checkVerified(actor, { reach: 'workspace', kind: 'create' });
    const { userId } = actor;
    // Locked, so that the workspaces that somebody makes at once are counted one after the other.
    await store.query('SELECT 1 AS one FROM "user" WHERE id = $1::uuid FOR NO KEY UPDATE', [userId]);
    const owned = await store.prisma.member.count({ where: { userId, role: 'owner' } });
    if (owned >= mostOwned) throw conflict(`you own ${mostOwned} workspaces; delete one of them first`);
    const id = newRowId();
    const row = await insertWorkspace(store, { id, name, timeZone, ...newWorkspaceLimits });
    await store.prisma.member.create({ data: { workspaceId: id, userId, role: 'owner' } });
    return {
      result: { id, slug: row.slug },
      subject: id,
      workspaceId: id,
      before: null,
      after: stateOfRow(row),
      changes: [{ kind: 'workspace', subject: id }],
    };
  },
});
