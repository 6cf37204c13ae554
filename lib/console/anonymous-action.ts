import { unstable_rethrow } from 'next/navigation';
import { controlHost, requestAddress } from '#lib/console/actor';
import { getConsoleHost } from '#lib/console/db';
import { type ActionResult, inWords, refused, tooMany } from '#lib/console/operation';
import type { Mutation } from '#lib/control/operations/declare';
import type { Fields } from '#lib/control/operations/field/field';
import { ControlRefused } from '#lib/control/operations/refusal';
import { ask } from '#lib/control/operations/run';
import { clientOf } from '#lib/platform/client-address';
import type { Limit } from '#lib/platform/throttle/throttle';

/**
 * Makes a server action of an operation for people who are not signed in.
 * @param limits how often a client may try it; `client` is an address or a network.
 */
export function anonymousAction<F extends Fields, Out>(
  operation: Mutation<F, Out, 'self'>,
  limits: (client: string, input: Readonly<Record<string, unknown>>) => readonly Limit[],
): (input: unknown) => Promise<ActionResult<Out>> {
  return async (sent) => {
    try {
      const input = typeof sent === 'object' && sent !== null ? { ...sent } : {};
      const address = await requestAddress();
      const waitSeconds = await getConsoleHost().throttle.claim(
        limits(clientOf(address ?? 'unknown'), input),
      );
      if (waitSeconds > 0) return tooMany(waitSeconds);
      const value = await ask(controlHost(), operation, { actor: { kind: 'anonymous', address }, input });
      return { ok: true, value };
    } catch (error) {
      unstable_rethrow(error);
      if (error instanceof ControlRefused) return inWords(error, operation.fields);
      getConsoleHost().report(error);
      return refused('Something went wrong; nothing was changed. Try again in a moment.');
    }
  };
}
