import { Prisma } from '#generated/client';
import { type Actor, actorName } from '#lib/control/operations/actor';
import type { Done, State } from '#lib/control/operations/declare';
import { difference } from '#lib/control/operations/state';
import type { Store } from '#lib/control/operations/store';
import { newRowId } from '#lib/platform/data/row-id';

/**
 * Writes the audit row of a mutation: actor, action, subject, differences and address
 * (contract: control-plane/audit). A mutation that changed nothing leaves no row.
 */
export async function audit(
  store: Store,
  actor: Actor,
  action: string,
  done: Pick<Done<unknown>, 'subject' | 'before' | 'after' | 'detail'> & {
    readonly workspaceId: string | null;
  },
): Promise<void> {
  const { before, after } = difference(done.before, done.after);
  const nothing = before !== null && after !== null && Object.keys(after).length === 0;
  if (nothing && done.detail === undefined) return;
  await store.prisma.audit.create({
    data: {
      id: newRowId(),
      workspaceId: done.workspaceId,
      actor: actorName(actor),
      address: actor.address,
      action,
      subject: done.subject,
      before: before === null ? Prisma.DbNull : jsonOf(before),
      after: after === null ? Prisma.DbNull : jsonOf(after),
      detail: jsonOf(done.detail ?? {}),
    },
  });
}

/** Via text, which drops undefined members and lets values use their own JSON form. */
function jsonOf(state: State): Prisma.InputJsonObject {
  return JSON.parse(JSON.stringify(state)) as Prisma.InputJsonObject;
}
