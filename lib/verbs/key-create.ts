import { z } from 'zod';
import type { Db } from '#lib/data/db';
import { displayOf, hashKey, makeKey } from '#lib/secrets';
import { isUuid } from '#lib/verbs/inputs';
import { columnsOf, createKeySchema, keyScope, shownSettings } from '#lib/verbs/key-inputs';
import { lockKey, lockWorkspace } from '#lib/verbs/subject';
import { newRowId, parseInput, runVerb, type Tx, VerbRefused } from '#lib/verbs/verb';

export type CreateKeyInput = z.input<typeof createKeySchema>;

const longestOverlapSeconds = 30 * 24 * 3600;
const rotateSchema = z.strictObject({
  ...keyScope,
  overlapSeconds: z
    .int('the overlap is a whole number of seconds')
    .min(0, 'the overlap is 0 seconds or more')
    .max(longestOverlapSeconds, `the overlap is at most ${longestOverlapSeconds} seconds (30 days)`)
    .default(0),
});
export type RotateKeyInput = z.input<typeof rotateSchema>;

/**
 * Makes an active key without limits of its own.
 * @returns its id and the key itself: the only time that it is shown (decisions §2).
 */
export async function createKey(
  db: Db,
  actor: string,
  input: CreateKeyInput,
  pepper: string,
): Promise<{ id: string; key: string }> {
  const { workspace, name, ...settings } = parseInput(createKeySchema, input);
  return runVerb(db, actor, async (tx) => {
    const { id: workspaceId } = await lockWorkspace(tx, workspace);
    const id = newRowId();
    const { key, columns } = newSecret(pepper);
    const createdBy = await memberOf(tx, workspaceId, actor);
    await tx.apiKey.create({
      data: { id, workspaceId, name, ...columns, models: [], ...columnsOf(settings), createdBy },
    });
    return {
      result: { id, key },
      audit: { workspaceId, action: 'key.create', subject: id, detail: shownSettings({ name, ...settings }) },
      changes: [{ kind: 'key', subject: id }],
    };
  });
}

/**
 * Gives a key a new secret; id, limits and spend stay. The old secret works for `overlapSeconds` more
 * (0: it stops at once); one that was still running out from an earlier rotation stops now.
 * @returns the new key: the only time that it is shown.
 */
export async function rotateKey(
  db: Db,
  actor: string,
  input: RotateKeyInput,
  pepper: string,
): Promise<{ id: string; key: string }> {
  const { overlapSeconds, ...scope } = parseInput(rotateSchema, input);
  return runVerb(db, actor, async (tx) => {
    const found = await lockKey(tx, scope);
    const { key, columns } = newSecret(pepper);
    const until = overlapSeconds === 0 ? null : new Date(Date.now() + overlapSeconds * 1000);
    const { count } = await tx.apiKey.updateMany({
      where: { id: found.id, status: { not: 'revoked' } },
      data: { ...columns, oldHash: until === null ? null : found.hash, oldHashUntil: until },
    });
    if (count === 0) throw new VerbRefused('a revoked key cannot be rotated; create a new one', 'id');
    return {
      result: { id: found.id, key },
      audit: {
        workspaceId: found.workspaceId,
        action: 'key.rotate',
        subject: found.id,
        detail: { overlapSeconds },
      },
      changes: [{ kind: 'key', subject: found.id }],
    };
  });
}

function newSecret(pepper: string) {
  const key = makeKey();
  const { start, end } = displayOf(key);
  return {
    key,
    columns: { hash: new Uint8Array(hashKey(key, pepper)), displayStart: start, displayEnd: end },
  };
}

/** The member who makes the key: when that member leaves, the key stops (decisions §9). */
async function memberOf(tx: Tx, workspaceId: string, actor: string): Promise<string | null> {
  if (!isUuid(actor)) return null;
  const member = await tx.member.findUnique({
    where: { workspaceId_userId: { workspaceId, userId: actor } },
  });
  return member?.userId ?? null;
}
