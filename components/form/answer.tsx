/** How a server action answers; pages give the actions, so that components know no server. */
export type FormAnswer<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly message: string;
      /** The field at fault; null when it is not one field. */
      readonly field: string | null;
      /** Nobody is signed in any more. */
      readonly signedOut: boolean;
    };

/** A server action of an operation of a workspace. */
export type Send<Value> = (workspace: string, input: Record<string, unknown>) => Promise<FormAnswer<Value>>;

/** What a page says when nothing answered: no network, a restart, a newer console. */
export const noAnswer =
  'No response from the gateway. Reload the page to see whether the change was made, then try again.';

/** What came, also when nothing did: an action that fails in a transition takes the whole page with it. */
export function orNoAnswer<Value>(answer: Promise<FormAnswer<Value>>): Promise<FormAnswer<Value>> {
  return answer.catch(() => ({ ok: false, message: noAnswer, field: null, signedOut: false }));
}
