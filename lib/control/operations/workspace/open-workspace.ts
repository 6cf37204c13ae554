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

/** How many workspaces a user may own. */
const mostOwned = 20;

/** It starts without money, since the sign-up credit is given only once (contract: control-plane/sign-up-credit). */
export const openWorkspace = create({
  name: 'workspace.open',
  summary: 'Creates a workspace with the signed-in user as its owner; a user can own at most 20.',
  reach: 'self',
  permission: null,
  fields: { name: workspaceSettings.name, timeZone: optional(workspaceSettings.timeZone) },
  output: z.object({ id: z.uuid(), slug: z.string() }),
  run: async ({ store, actor }, { name, timeZone = 'UTC' }) => {
    if (actor.kind !== 'user') throw notFound('sign in first');
    checkVerified(actor, { reach: 'workspace', kind: 'create' });
    const { userId } = actor;
    // Locked, so that workspaces that a user creates at the same time are counted one after another.
    await store.query('SELECT 1 AS one FROM "user" WHERE id = $1::uuid FOR NO KEY UPDATE', [userId]);
    const owned = await store.prisma.member.count({ where: { userId, role: 'owner' } });
    if (owned >= mostOwned) throw conflict(`you already own ${mostOwned} workspaces; delete one first`);
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
