import { unstable_rethrow } from 'next/navigation';
import type { z } from 'zod';
import { getConsoleHost } from '#lib/console/db';
import { findMember, type Membership } from '#lib/console/member';
import { may, type Permission, rolesThatMay } from '#lib/console/role';
import { findUser } from '#lib/console/session';
import { VerbRefused } from '#lib/verbs/verb';

/** What an action answers: never an exception, so that the page can show what to do next. */
export type ActionResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly message: string;
      /** The input at fault; null when it is not one field. */
      readonly field: string | null;
      /** Nobody is signed in any more: the page offers the way back in. */
      readonly signedOut: boolean;
    };

function refused(message: string, field: string | null = null, signedOut = false): ActionResult<never> {
  return { ok: false, message, field, signedOut };
}

/** Why there is no member. Strangers and unknown workspaces get one answer, so that nobody can probe names. */
async function refuseStranger(): Promise<ActionResult<never>> {
  if (await findUser()) return refused('You are no longer a member of this workspace.');
  return refused('Your session has ended; nothing was changed.', null, true);
}

/**
 * Makes a server action of a verb: authorises, reads the input, runs, and has this process read the
 * change feed at once, so that a change is in force here before the page hears of it (decisions §9).
 * Next has compared Origin and Host before.
 */
export function memberAction<Schema extends z.ZodType, Value>(
  permission: Permission,
  schema: Schema,
  run: (member: Membership, input: z.output<Schema>) => Promise<Value>,
): (slug: string, input: unknown) => Promise<ActionResult<Value>> {
  return async (slug, input) => {
    try {
      const member = await findMember(String(slug));
      if (!member) return await refuseStranger();
      if (!may(member.role, permission)) {
        return refused(`Your role is ${member.role}. Ask an ${rolesThatMay(permission)} to do this.`);
      }
      const parsed = schema.safeParse(input);
      if (!parsed.success) {
        const issue = parsed.error.issues[0];
        return refused(issue?.message ?? 'The form cannot be read.', issue?.path.join('.') || null);
      }
      const value = await run(member, parsed.data);
      await getConsoleHost().pollNow();
      return { ok: true, value };
    } catch (error) {
      unstable_rethrow(error);
      if (error instanceof VerbRefused) return refused(sentence(error), error.field);
      getConsoleHost().report(error);
      return refused('The gateway could not do this just now; nothing was changed. Try again in a moment.');
    }
  };
}

/** A verb names the field before its message; on a page the message stands under the field. */
function sentence({ message, field }: VerbRefused): string {
  const text = field && message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  // Forms say "nothing" by an empty box, the command line by the word.
  const spoken = text.replace('"none" for', 'empty for');
  return `${spoken.charAt(0).toUpperCase()}${spoken.slice(1)}${spoken.endsWith('.') ? '' : '.'}`;
}
