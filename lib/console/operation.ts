import { notFound, unstable_rethrow } from 'next/navigation';
import { z } from 'zod';
import { actorOf, controlHost } from '#lib/console/actor';
import { getConsoleHost } from '#lib/console/db';
import { readForm } from '#lib/console/form';
import { findUser, requireUser } from '#lib/console/session';
import type { Mutation, Reach, Read } from '#lib/control/operations/declare';
import type { Fields } from '#lib/control/operations/field/field';
import { ControlRefused } from '#lib/control/operations/refusal';
import { ask } from '#lib/control/operations/run';
import { changedSince } from '#lib/control/operations/state';

/** The result of an action: never an exception, so that the page can show what to do next. */
export type ActionResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly message: string;
      /** The invalid input; null if it is not one field. */
      readonly field: string | null;
      /** The code of the operation's refusal; absent: the operation was not asked. */
      readonly code?: string;
      /** The session has ended: the page offers to sign in again. */
      readonly signedOut: boolean;
    };

/**
 * Makes a server action of an operation; it accepts only the input that the operation declares. Next has
 * already compared Origin and Host. `seen` is the entity tag of what the page shows: if it was changed in another tab,
 * the change is refused (contract: control-plane/two-tabs).
 */
export function operationAction<F extends Fields, Out, R extends Reach>(
  operation: Read<F, Out, R> | Mutation<F, Out, R>,
): (slug: string, input: unknown, seen?: unknown) => Promise<ActionResult<Out>> {
  return async (slug, input, seen) => {
    try {
      const user = await findUser();
      if (!user) return refused('Your session has ended; nothing was changed.', null, true);
      const actor = await actorOf(user);
      // The browser may send anything; only a string can name a workspace.
      const workspace = typeof slug === 'string' ? slug : '';
      const given = readForm(operation.fields, input);
      const value = await ask(controlHost(), operation, {
        ...{ actor, workspace, input: given },
        ...(typeof seen === 'string' ? { ifMatch: seen } : {}),
      });
      return { ok: true, value };
    } catch (error) {
      unstable_rethrow(error);
      if (error instanceof ControlRefused) return inWords(error, operation.fields);
      getConsoleHost().report(error);
      return refused('Something went wrong; nothing was changed. Try again in a moment.');
    }
  };
}

/** The most things that one action changes. */
const mostInputs = 500;
const manyInputs = z.object({
  change: z.string(),
  inputs: z.array(z.record(z.string(), z.unknown())).min(1).max(mostInputs),
});

/** Which of many inputs were refused, by their place, and why. */
export interface EachResult {
  readonly failed: readonly { readonly at: number; readonly message: string }[];
}

/**
 * Makes a server action that carries out another one for each of many inputs, one after the other. Each is a change
 * of its own, with its own permission, transaction and audit row, so that what is refused does not undo the others.
 * @param actions by the name that the page sends.
 */
export function eachAction(
  actions: Readonly<Record<string, (slug: string, input: unknown) => Promise<ActionResult<unknown>>>>,
): (slug: string, input: unknown) => Promise<ActionResult<EachResult>> {
  return async (slug, input) => {
    const { data: given } = manyInputs.safeParse(input);
    const act = given && Object.hasOwn(actions, given.change) ? actions[given.change] : undefined;
    if (!given || !act) return refused(`Choose a change and 1 to ${mostInputs} rows.`);
    const failed: { at: number; message: string }[] = [];
    for (const [at, one] of given.inputs.entries()) {
      const answer = await act(slug, one);
      if (answer.ok) continue;
      if (answer.signedOut)
        return at === 0 ? answer : { ...answer, message: `The session has ended after ${at} changes.` };
      failed.push({ at, message: answer.message });
    }
    return { ok: true, value: { failed } };
  };
}

/**
 * Runs a read for a page. Without a session, redirects to the sign-in page. What does not exist, or is not
 * visible to this member, is the same not-found page. Invalid filters in the URL are left out.
 * @param slug of the workspace; undefined: the operation is not about one.
 */
export async function readForPage<F extends Fields, Out, R extends Reach>(
  operation: Read<F, Out, R>,
  slug: string | undefined,
  input: Readonly<Record<string, unknown>>,
): Promise<Out> {
  const actor = await actorOf(await requireUser());
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== null);
  try {
    const asked = {
      actor,
      ...(slug === undefined ? {} : { workspace: slug }),
      input: Object.fromEntries(given),
    };
    return await ask(controlHost(), operation, asked);
  } catch (error) {
    if (!(error instanceof ControlRefused)) throw error;
    const unreadable = given.find(([name]) => name === error.field?.split('.')[0]);
    if (error.code !== 'invalid_body' || !unreadable) notFound();
    return readForPage(operation, slug, Object.fromEntries(given.filter((one) => one !== unreadable)));
  }
}

/** The same, but a refusal is part of the page, which says why there is no answer. */
export async function tryForPage<F extends Fields, Out, R extends Reach>(
  operation: Read<F, Out, R>,
  slug: string,
  input: Readonly<Record<string, unknown>>,
): Promise<ActionResult<Out>> {
  const actor = await actorOf(await requireUser());
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== null);
  try {
    const asked = { actor, workspace: slug, input: Object.fromEntries(given) };
    return { ok: true, value: await ask(controlHost(), operation, asked) };
  } catch (error) {
    if (!(error instanceof ControlRefused)) throw error;
    if (error.code !== 'invalid_body') notFound();
    return inWords(error, operation.fields);
  }
}

/** A refusal, which is about no field unless one is named. */
export function refused(
  message: string,
  field: string | null = null,
  signedOut = false,
): Extract<ActionResult<never>, { ok: false }> {
  return { ok: false, message, field, signedOut };
}

/** @param waitSeconds until it makes sense to try again. */
export function tooMany(waitSeconds: number): ActionResult<never> {
  const wait = waitSeconds < 90 ? `${waitSeconds} seconds` : `${Math.ceil(waitSeconds / 60)} minutes`;
  return refused(`Too many attempts. Wait ${wait}, then try again.`);
}

/** A refusal as a sentence, without the field's name, because it is shown next to its box. */
export function inWords({ code, field, text }: ControlRefused, fields: Fields): ActionResult<never> {
  // Users who are not members and unknown workspaces get one answer, so that names cannot be probed.
  if (text === changedSince)
    return {
      ...refused('This was changed in the meantime; nothing was changed now. Look at it, then decide.'),
      code,
    };
  if (code === 'not_found' && field === 'workspace')
    return refused('You are no longer a member of this workspace.');
  const { kind, empty } = fields[field ?? ''] ?? {};
  const clear =
    empty && (kind === 'money' || kind === 'count') ? `, or empty for ${empty.toLowerCase()}` : '';
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}${clear}`;
  return { ...refused(/[.?!]$/.test(sentence) ? sentence : `${sentence}.`, field), code };
}
