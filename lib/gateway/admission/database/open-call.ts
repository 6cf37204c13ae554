import { text, uuid } from '#lib/platform/data/literals';

/** How long a call counts as running after its process was last heard from. */
export const OPEN_LIFE = `interval '45 seconds'`;

/** A call that is admitted without a journal: written in the transaction that holds its money. */
export function insertOpenCall(callId: string, entry: Uint8Array): string {
  const bytes = text(`\\x${Buffer.from(entry).toString('hex')}`);
  return `INSERT INTO open_call (call_id, entry, expires_at)
    VALUES (${uuid(callId)}, ${bytes}::bytea, now() + ${OPEN_LIFE}) ON CONFLICT (call_id) DO NOTHING;`;
}
