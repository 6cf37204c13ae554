import { notFound } from 'next/navigation';
import { type ActionResult, operationAction, readForPage } from '#lib/console/operation';
import { requireUser } from '#lib/console/session';
import type { Mutation, Read } from '#lib/control/operations/declare';
import type { Fields } from '#lib/control/operations/field/field';
import type { SessionUser } from '#lib/control/operations/user/authenticate';

/**
 * Authorizes a page of the operator area. Without a session, redirects to the sign-in page. For users who are
 * not operators, the area does not exist (contract: control-plane/operator-area).
 */
export async function requireOperator(): Promise<SessionUser> {
  const user = await requireUser();
  if (!user.operator) notFound();
  return user;
}

/** Runs a read of the whole gateway, or of something in any workspace, for a page of the operator area. */
export async function readForOperator<F extends Fields, Out>(
  operation: Read<F, Out, 'gateway'> | Read<F, Out, 'subject'> | Read<F, Out, 'self'>,
  input: Readonly<Record<string, unknown>> = {},
): Promise<Out> {
  await requireOperator();
  return readForPage<F, Out, 'gateway' | 'subject' | 'self'>(operation, undefined, input);
}

/** Makes a server action of an operation on the whole gateway; the operation declares who may use it. */
export function operatorAction<F extends Fields, Out>(
  operation: Read<F, Out, 'gateway'> | Mutation<F, Out, 'gateway'>,
): (input: unknown) => Promise<ActionResult<Out>> {
  const action = operationAction(operation);
  return async (input) => action('', input);
}
