/** The result of a server action; pages pass the actions, so that components do not depend on the server. */
export type FormAnswer<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly message: string;
      /** The field with the error; null if it is not about one field. */
      readonly field: string | null;
      /** The code of the refusal: "conflict". */
      readonly code?: string;
      /** The session has ended. */
      readonly signedOut: boolean;
    };

/** A server action that runs an operation of a workspace. */
export type Send<Value> = (workspace: string, input: Record<string, unknown>) => Promise<FormAnswer<Value>>;

/** Message when no answer came: network down, a restart, a newer console. */
export const noAnswer =
  'No response from the gateway. Reload the page to see whether the change was made, then try again.';

/** The answer, or an error if none came: an action that throws in a transition takes down the whole page. */
export function orNoAnswer<Value>(answer: Promise<FormAnswer<Value>>): Promise<FormAnswer<Value>> {
  return answer.catch(() => ({ ok: false, message: noAnswer, field: null, signedOut: false }));
}
