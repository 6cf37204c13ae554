import { optional } from '#lib/control/operations/field/field';
import { pattern } from '#lib/control/operations/field/kinds';
import { conflict } from '#lib/control/operations/refusal';
import type { Store } from '#lib/control/operations/store';

/** Only random ones: refs that the gateway makes are ids ordered by time, and never look like these. */
const randomUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** For forms, which make one when they are shown, and for scripts that may have to retry. */
export const ownRef = optional(
  pattern(
    {
      label: 'Ref',
      help: 'Your own random UUID for the line; sending it again posts nothing twice.',
      placeholder: 'UUID',
      example: '0f8fad5b-d9cb-469f-a165-70867728950e',
    },
    randomUuid,
    'must be a random UUID (version 4) in lower case, a new one for each line',
  ),
);

interface Line {
  readonly workspaceId: string;
  readonly kind: 'adjustment' | 'promo';
  readonly ref: string;
  readonly amountNano: bigint;
  readonly reason: string;
  /** Of promo credit; null: never. */
  readonly expiresAt?: Date | null;
}

/**
 * Whether exactly this line was posted before (contract: money/own-ref).
 * @throws ControlRefused (conflict) if a different line has the ref.
 */
export async function isPosted(store: Store, line: Line): Promise<boolean> {
  const { workspaceId, kind, ref, amountNano, reason, expiresAt = null } = line;
  const [found] = await store.query<{ same: boolean }>(
    `SELECT (l.workspace_id, l.amount_nano, l.reason, p.expires_at)
       IS NOT DISTINCT FROM ($3::uuid, $4::bigint, $5, $6::timestamptz) AS same
     FROM ledger_line l LEFT JOIN promo p ON p.ref = l.ref AND l.kind = 'promo' WHERE l.kind = $1 AND l.ref = $2`,
    [kind, ref, workspaceId, `${amountNano}`, reason, expiresAt],
  );
  if (found === undefined || found.same) return found !== undefined;
  throw conflict('a different line in the ledger has this ref; reload the page, or use a new ref', 'ref');
}
