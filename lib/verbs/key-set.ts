import type { z } from 'zod';
import type { Db } from '#lib/data/db';
import { columnsOf, setKeySchema, shownSettings } from '#lib/verbs/key-inputs';
import { lockKey, recallKeyLeases } from '#lib/verbs/subject';
import { parseInput, runVerb, VerbRefused } from '#lib/verbs/verb';

export type SetKeyInput = z.input<typeof setKeySchema>;

/**
 * Changes what is given of a key; null or "none" removes. A quota raised above what is spent clears the
 * quota flag (decisions §9), one at or below it sets the flag. A revoked key stays as it is.
 */
export async function setKey(db: Db, actor: string, input: SetKeyInput): Promise<{ id: string }> {
  const { id: keyId, workspaceId: scopeId, name, ...settings } = parseInput(setKeySchema, input);
  return runVerb(db, actor, async (tx) => {
    const key = await lockKey(tx, { id: keyId, workspaceId: scopeId });
    const { id, workspaceId } = key;
    const { count } = await tx.apiKey.updateMany({
      where: { id, status: { not: 'revoked' } },
      data: {
        ...columnsOf(settings),
        ...(name === undefined ? {} : { name }),
        quotaExhausted: flagAfter(key, settings.quota),
      },
    });
    if (count === 0) throw new VerbRefused('a revoked key cannot be changed; create a new one', 'id');
    const caps = [settings.dailyCap, settings.d7Cap, settings.d30Cap, settings.quota];
    const capped = caps.some((value) => value !== undefined);
    const recalled = capped ? [await recallKeyLeases(tx, id)] : [];
    return {
      result: { id },
      audit: { workspaceId, action: 'key.set', subject: id, detail: shownSettings({ name, ...settings }) },
      changes: [{ kind: 'key', subject: id }, ...recalled],
    };
  });
}

/** The quota flag after a quota was given; undefined leaves it. */
function flagAfter(
  key: { quotaExhausted: boolean; quotaNano: bigint | null; spentNano: bigint },
  quotaNano: bigint | null | undefined,
): boolean {
  if (quotaNano === undefined || quotaNano === key.quotaNano) return key.quotaExhausted;
  if (quotaNano === null) return false;
  if (key.spentNano >= quotaNano) return true;
  return key.quotaNano !== null && quotaNano > key.quotaNano ? false : key.quotaExhausted;
}
