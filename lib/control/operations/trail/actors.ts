import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { isUuid } from '#lib/control/operations/field/kinds';
import { within } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';

const mostActors = 1000;
const ofKey = /^management-key (.{36})$/;

/** Actors of the audit log with readable names, including former members. */
export const listActors = read({
  name: 'audit.actors',
  summary: 'Lists who has changed something in a workspace, with the actor of the rows and a readable name.',
  reach: 'workspace',
  permission: 'workspace:read',
  output: z.object({ data: z.array(z.object({ actor: z.string(), name: z.string() })) }),
  http: [{ method: 'GET', path: '/workspaces/{workspace}/audit/actors' }],
  line: {},
  run: async ({ store, scope }) => {
    const values: unknown[] = [];
    const rows = await store.query<{ actor: string }>(
      `SELECT DISTINCT actor FROM audit WHERE ${within(scope, 'workspace_id', values)} LIMIT ${mostActors}`,
      values,
    );
    const actors = rows.map(({ actor }) => actor);
    const names = await namesOf(store, scope.workspaceId, actors);
    const data = actors.map((actor) => ({ actor, name: names.get(actor) ?? nameless(actor) }));
    return { data: data.sort((one, other) => one.name.localeCompare(other.name, 'en')) };
  },
});

async function namesOf({ prisma }: Store, workspaceId: string, actors: readonly string[]) {
  const users = await prisma.user.findMany({
    where: { id: { in: actors.filter(isUuid) } },
    select: { id: true, email: true, operator: true, members: { where: { workspaceId } } },
  });
  const keyIds = actors.flatMap((actor) => ofKey.exec(actor)?.[1] ?? []).filter(isUuid);
  const keys = await prisma.managementKey.findMany({ where: { workspaceId, id: { in: keyIds } } });
  return new Map([
    // The identity of operators is not shown in workspaces of which they are not members.
    ...users.map(({ id, email, operator, members }): [string, string] => [
      id,
      operator && members.length === 0 ? 'An operator' : email,
    ]),
    ...keys.map(({ id, name }): [string, string] => [`management-key ${id}`, `Management key ${name}`]),
  ]);
}

function nameless(actor: string): string {
  // 'stranger' is what earlier versions wrote.
  if (actor === 'anonymous' || actor === 'stranger') return 'A visitor';
  if (ofKey.test(actor)) return 'An operator’s management key';
  return isUuid(actor) ? 'A former user' : `The ${actor}`;
}
