import { getConsoleHost } from '#lib/console/db';
import { type ActionResult, operationAction, tooMany } from '#lib/console/operation';
import { findUser } from '#lib/console/session';
import type { Mutation } from '#lib/control/operations/declare';
import type { Fields } from '#lib/control/operations/field/field';
import type { Limit } from '#lib/platform/throttle/throttle';

/**
 * Makes a server action of an operation on the signed-in user's own account.
 * @param limits how often the user may try it.
 */
export function ownAction<F extends Fields, Out>(
  operation: Mutation<F, Out, 'self'>,
  limits: (userId: string) => readonly Limit[] = () => [],
): (input: unknown) => Promise<ActionResult<Out>> {
  const act = operationAction(operation);
  return async (input) => {
    const user = await findUser();
    const waitSeconds = user ? await getConsoleHost().throttle.claim(limits(user.id)) : 0;
    return waitSeconds > 0 ? tooMany(waitSeconds) : act('', input);
  };
}
