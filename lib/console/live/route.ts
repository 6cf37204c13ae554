import { actorOf, controlHost } from '#lib/console/actor';
import { getConsoleHost } from '#lib/console/db';
import { findUser } from '#lib/console/session';
import type { UserActor } from '#lib/control/operations/actor';
import type { Mutation, Reach, Read } from '#lib/control/operations/declare';
import type { Fields } from '#lib/control/operations/field/field';
import { ControlRefused } from '#lib/control/operations/refusal';
import { ask } from '#lib/control/operations/run';

/** The result of a read, or the response that says why there is none. */
type Told<Out> = { readonly value: Out } | { readonly refused: Response };

/** The signed-in user; null: none. Queried once per request. */
export async function findRouteActor(): Promise<UserActor | null> {
  const user = await findUser();
  return user && actorOf(user);
}

/**
 * Runs a read for a script of a page, which gets a status instead of a page: 401 without a session, 404 for
 * what does not exist or is not visible to this member, 400 for invalid input.
 */
export async function readForRoute<F extends Fields, Out, R extends Reach>(
  actor: UserActor | null,
  operation: Read<F, Out, R> | Mutation<F, Out, R>,
  workspace: string,
  input: Readonly<Record<string, unknown>>,
): Promise<Told<Out>> {
  if (!actor) return { refused: say(401, 'Your session has ended; sign in again.') };
  try {
    return { value: await ask(controlHost(), operation, { actor, workspace, input }) };
  } catch (error) {
    if (error instanceof ControlRefused) {
      return { refused: say(error.code === 'invalid_body' ? 400 : 404, error.text) };
    }
    getConsoleHost().report(error);
    return { refused: say(503, 'The gateway could not load this; try again in a moment.') };
  }
}

function say(status: number, message: string): Response {
  return Response.json({ message }, { status });
}
