import type { Store } from '#lib/control/operations/store';

/** A payment that was not credited because it does not match its order. */
export interface Quarantined {
  readonly event: string;
  readonly why: string;
  readonly payment: string | null;
  readonly topUp: string | null;
  readonly at: string;
}

/** What was quarantined, the newest first; at most 100. */
export async function listQuarantined(store: Pick<Store, 'query'>): Promise<Quarantined[]> {
  const rows = await store.query<Omit<Quarantined, 'at'> & { at: Date }>(
    `SELECT e.id AS event, e.why, e.payment_intent AS payment, e.top_up_id::text AS "topUp", e.handled_at AS at
     FROM stripe_event e WHERE e.outcome = 'quarantined' ORDER BY e.handled_at DESC LIMIT 100`,
    [],
  );
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }));
}
