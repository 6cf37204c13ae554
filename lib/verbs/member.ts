import { z } from 'zod';
import { normalEmail } from '#lib/console/credentials';
import { roles } from '#lib/control/role';
import type { Db } from '#lib/data/db';
import { lockWorkspace } from '#lib/verbs/subject';
import { parseInput, runVerb, type Tx, VerbRefused } from '#lib/verbs/verb';

const role = z.enum(roles, `a role is one of ${roles.join(', ')}`);
const addSchema = z.strictObject({
  workspace: z.string(),
  email: z.string().transform(normalEmail),
  role,
});
const setSchema = z.strictObject({ workspace: z.string(), userId: z.uuid(), role });
const removeSchema = z.strictObject({ workspace: z.string(), userId: z.uuid() });
export type AddMemberInput = z.input<typeof addSchema>;
export type SetMemberInput = z.input<typeof setSchema>;
export type RemoveMemberInput = z.input<typeof removeSchema>;

/** Makes a user a member. @throws VerbRefused when there is no such user, or one is a member already. */
export async function addMember(db: Db, actor: string, input: AddMemberInput): Promise<{ userId: string }> {
  const wanted = parseInput(addSchema, input);
  return runVerb(db, actor, async (tx) => {
    const { id } = await lockWorkspace(tx, wanted.workspace);
    const user = await tx.user.findUnique({ where: { email: wanted.email }, select: { id: true } });
    if (user === null) {
      throw new VerbRefused(`there is no user ${wanted.email}; ask them to sign up first`, 'email');
    }
    const data = [{ workspaceId: id, userId: user.id, role: wanted.role }];
    const { count } = await tx.member.createMany({ data, skipDuplicates: true });
    if (count === 0) throw new VerbRefused(`${wanted.email} is a member already; change the role`, 'email');
    return {
      result: { userId: user.id },
      audit: { workspaceId: id, action: 'member.add', subject: user.id, detail: { role: wanted.role } },
      changes: [{ kind: 'workspace', subject: id }],
    };
  });
}

/** Changes a member's role. @throws VerbRefused when the workspace would be left without an owner. */
export async function setMember(db: Db, actor: string, input: SetMemberInput): Promise<{ userId: string }> {
  const { workspace, userId, role: wanted } = parseInput(setSchema, input);
  return runVerb(db, actor, async (tx) => {
    const { id } = await lockWorkspace(tx, workspace);
    const before = await getRole(tx, id, userId);
    if (wanted !== 'owner') await keepAnOwner(tx, id, userId);
    await tx.member.updateMany({ where: { workspaceId: id, userId }, data: { role: wanted } });
    const detail = { role: wanted, before };
    return {
      result: { userId },
      audit: { workspaceId: id, action: 'member.set', subject: userId, detail },
      changes: [],
    };
  });
}

/** Removes a member; the keys that they made stop (decisions §9). @throws as `setMember` does. */
export async function removeMember(
  db: Db,
  actor: string,
  input: RemoveMemberInput,
): Promise<{ userId: string }> {
  const { workspace, userId } = parseInput(removeSchema, input);
  return runVerb(db, actor, async (tx) => {
    const { id } = await lockWorkspace(tx, workspace);
    const before = await getRole(tx, id, userId);
    await keepAnOwner(tx, id, userId);
    await tx.member.deleteMany({ where: { workspaceId: id, userId } });
    return {
      result: { userId },
      audit: { workspaceId: id, action: 'member.remove', subject: userId, detail: { before } },
      changes: [{ kind: 'workspace', subject: id }],
    };
  });
}

async function getRole(tx: Tx, workspaceId: string, userId: string): Promise<string> {
  const member = await tx.member.findUnique({ where: { workspaceId_userId: { workspaceId, userId } } });
  if (member === null) throw new VerbRefused('that user is no member of this workspace', 'userId');
  return member.role;
}

/** The workspace row is locked, so that two owners cannot leave at once. */
async function keepAnOwner(tx: Tx, workspaceId: string, leaving: string): Promise<void> {
  const owners = await tx.member.findMany({ where: { workspaceId, role: 'owner' } });
  if (owners.length === 1 && owners[0]?.userId === leaving) {
    throw new VerbRefused('a workspace keeps at least one owner; make another member owner first', 'userId');
  }
}
