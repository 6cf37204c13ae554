import { hash } from '@node-rs/argon2';
import { z } from 'zod';
import { normalEmail } from '#lib/console/credentials';
import { roles } from '#lib/control/role';
import type { Db } from '#lib/data/db';
import { lockWorkspace } from '#lib/verbs/subject';
import { newRowId, parseInput, runVerb, VerbRefused } from '#lib/verbs/verb';

const password = z
  .string()
  .min(8, 'a password has at least 8 characters')
  .max(1024, 'a password has at most 1024 characters');

const schema = z.strictObject({
  email: z.string().transform(normalEmail).pipe(z.email('not an e-mail address').max(320)),
  password,
  name: z.string().trim().min(1).max(100).optional(),
  operator: z.boolean().optional(),
  workspace: z.string().optional(),
  role: z.enum(roles, `a role is one of ${roles.join(', ')}`).optional(),
});
export type CreateUserInput = z.input<typeof schema>;

/** A password for storage: Argon2id, 19 MiB, two passes. */
function hashPassword(text: string): Promise<string> {
  return hash(text, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
}

/**
 * Makes a user who signs in with a password, and a member of `workspace` when one is given
 * (role `developer` without other word).
 */
export async function createUser(
  db: Db,
  actor: string,
  input: CreateUserInput,
): Promise<{ id: string; email: string }> {
  const { email, workspace, role = 'developer', operator = false, ...wanted } = parseInput(schema, input);
  const passwordHash = await hashPassword(wanted.password);
  return runVerb(db, actor, async (tx) => {
    const id = newRowId();
    const place = workspace === undefined ? null : await lockWorkspace(tx, workspace);
    const name = wanted.name ?? null;
    const { count } = await tx.user.createMany({
      data: [{ id, email, name, passwordHash, operator }],
      skipDuplicates: true,
    });
    if (count === 0) throw new VerbRefused(`there is a user ${email} already; sign in instead`, 'email');
    if (place !== null) await tx.member.create({ data: { workspaceId: place.id, userId: id, role } });
    const detail = { email, operator, role: place === null ? null : role };
    return {
      result: { id, email },
      audit: { workspaceId: place?.id ?? null, action: 'user.create', subject: id, detail },
      changes: [],
    };
  });
}
