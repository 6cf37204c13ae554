import { z } from 'zod';
import type { Db } from '#lib/data/db';
import { keyScope } from '#lib/verbs/key-inputs';
import { lockKey } from '#lib/verbs/subject';
import { parseInput, runVerb, VerbRefused } from '#lib/verbs/verb';

const schema = z.strictObject(keyScope);
export type KeyInput = z.input<typeof schema>;

export interface KeyState {
  readonly id: string;
  readonly status: 'active' | 'inactive' | 'revoked';
  readonly quotaExhausted: boolean;
}

type Transition = { status: KeyState['status'] } | { quotaExhausted: boolean };

/**
 * One transition of a key (decisions §9). Doing it again changes nothing and is no error.
 * @throws VerbRefused when the key is revoked: that is final.
 */
async function transit(db: Db, actor: string, action: string, input: KeyInput, to: Transition) {
  const scope = parseInput(schema, input);
  return runVerb(db, actor, async (tx) => {
    const key = await lockKey(tx, scope);
    const { id, workspaceId } = key;
    const result: KeyState = { id, status: statusOf(key.status), quotaExhausted: key.quotaExhausted, ...to };
    if (result.status === key.status && result.quotaExhausted === key.quotaExhausted) {
      return { result, audit: null, changes: [] };
    }
    const { count } = await tx.apiKey.updateMany({
      where: { id, status: { not: 'revoked' } },
      data: to,
    });
    if (count === 0) throw new VerbRefused('a revoked key stays revoked; create a new one', 'id');
    return {
      result,
      audit: { workspaceId, action: `key.${action}`, subject: id, detail: to },
      changes: [{ kind: 'key', subject: id }],
    };
  });
}

/** The stored status; anything that is no status counts as inactive, so that it never admits. */
function statusOf(stored: string): KeyState['status'] {
  return stored === 'active' || stored === 'revoked' ? stored : 'inactive';
}

/** inactive → active. */
export function enableKey(db: Db, actor: string, input: KeyInput): Promise<KeyState> {
  return transit(db, actor, 'enable', input, { status: 'active' });
}

/** active → inactive. */
export function disableKey(db: Db, actor: string, input: KeyInput): Promise<KeyState> {
  return transit(db, actor, 'disable', input, { status: 'inactive' });
}

/** Sets the quota flag by hand. */
export function exhaustKey(db: Db, actor: string, input: KeyInput): Promise<KeyState> {
  return transit(db, actor, 'exhaust', input, { quotaExhausted: true });
}

/** Clears the quota flag by hand. */
export function restoreKey(db: Db, actor: string, input: KeyInput): Promise<KeyState> {
  return transit(db, actor, 'restore', input, { quotaExhausted: false });
}

/** active or inactive → revoked, for good. */
export function revokeKey(db: Db, actor: string, input: KeyInput): Promise<KeyState> {
  return transit(db, actor, 'revoke', input, { status: 'revoked' });
}
