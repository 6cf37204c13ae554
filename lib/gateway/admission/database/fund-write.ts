import { insertOpenCall } from '#lib/gateway/admission/database/open-call';
import type { Grant, LeaseRef, Want } from '#lib/gateway/admission/money-store';
import { moment, nano, text, uuid } from '#lib/platform/data/literals';

/** @returns statements that keep `keepNano` of a lease (null: all of it) and add a grant. */
export function writeLease(ref: LeaseRef, ownerId: string, keepNano: bigint | null, grant?: Grant): string {
  const kept = keepNano === null ? 'l.granted_nano' : `least(l.granted_nano, ${nano(keepNano)})`;
  const where = `l.owner_id = ${uuid(ownerId)} AND l.kind = ${text(ref.kind)} AND l.subject_id = ${uuid(ref.subjectId)}`;
  if (!grant) {
    return `UPDATE lease l SET granted_nano = ${kept}, recalled_at = NULL WHERE ${where};`;
  }
  const { grantedNano, simulated } = grant;
  return `INSERT INTO lease AS l (owner_id, kind, subject_id, granted_nano, simulated)
    VALUES (${uuid(ownerId)}, ${text(ref.kind)}, ${uuid(ref.subjectId)}, ${nano(grantedNano)}, ${simulated})
    ON CONFLICT (owner_id, kind, subject_id) DO UPDATE
      SET granted_nano = ${kept} + ${nano(grantedNano)}, simulated = excluded.simulated;`;
}

/** Hold rows of new calls, and more for running ones whose row still stands. */
export function writeHolds(wants: readonly Want[], workspaceId: string, ownerId: string): string {
  const rows = wants
    .filter((want) => want.mode === 'claim' || want.mode === 'claim-row')
    .map(
      (want) =>
        `(${uuid(want.callId)}, ${uuid(ownerId)}, ${uuid(workspaceId)}, ${uuid(want.keyId)}, ${nano(want.amountNano)}, ${moment(want.atMs)}, ${want.simulated === true})`,
    );
  const growths = wants
    .filter((want) => want.mode === 'grow-row')
    .map(
      (want) =>
        `UPDATE hold SET amount_nano = amount_nano + ${nano(want.amountNano)}
         WHERE call_id = ${uuid(want.callId)} AND owner_id IS NOT NULL;`,
    );
  const claims =
    rows.length === 0
      ? ''
      : `INSERT INTO hold (call_id, owner_id, workspace_id, key_id, amount_nano, admitted_at, simulated)
         VALUES ${rows.join(', ')} ON CONFLICT (call_id) DO NOTHING;`;
  const opens = wants.flatMap(({ callId, open }) => (open ? [insertOpenCall(callId, open)] : []));
  return claims + growths.join('') + opens.join('');
}

/** Asks other owners for what they have not spent; `awaiting` sees the answer. */
export function writeRecalls(refs: readonly LeaseRef[], ownerId: string): string {
  return refs
    .map(
      (ref) => `UPDATE lease SET recalled_at = coalesce(recalled_at, now())
        WHERE kind = ${text(ref.kind)} AND subject_id = ${uuid(ref.subjectId)} AND owner_id <> ${uuid(ownerId)};`,
    )
    .join('');
}
