import pTimeout from 'p-timeout';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';

/** The last permit request of a process: whatever it sent before and arrives later changes nothing. */
const LAST_TURN = 2_147_483_647;
/** A store that does not answer frees them by itself, after `slotLifeMs`; ms. */
const PATIENCE_MS = 2_000;

/** Its name in the store: the random part of its owner, as processes of one machine start in the same millisecond. */
export function processName(ownerId: string): string {
  return ownerId.slice(-12);
}

/** A call that was running. */
export interface OrphanedCall {
  readonly workspaceId: string;
  readonly keyId: string;
}

/**
 * Gives back the slots of the calls that were running when a process died (contract: limits/concurrency).
 * @param ownerId of the dead process.
 * @throws Error of the store, or when it has not answered within 2 s.
 */
export async function freeSlots(
  store: LimitStore,
  ownerId: string,
  calls: Iterable<OrphanedCall>,
): Promise<void> {
  const subjects = new Map<string, Set<string>>();
  for (const { workspaceId, keyId } of calls) {
    const known = subjects.get(workspaceId) ?? new Set([workspaceId]);
    subjects.set(workspaceId, known.add(keyId));
  }
  const asks = [...subjects].map(([workspaceId, ids]) =>
    store.carryOut({
      workspaceId,
      process: processName(ownerId),
      turn: LAST_TURN,
      epoch: null,
      processes: 1,
      calls: [],
      subjects: [...ids].map((id) => ({
        id,
        limits: unlimited,
        slots: 0,
        lowered: [],
        used: [],
        want: { requests: 0, tokens: 0, slots: 0 },
      })),
    }),
  );
  await pTimeout(Promise.all(asks), { milliseconds: PATIENCE_MS });
}

const unlimited = { rpm: null, tpm: null, concurrency: null };
