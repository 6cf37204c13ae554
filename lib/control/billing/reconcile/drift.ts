import type { Pool } from 'pg';
import { nanoOf, shareOf } from '#lib/control/billing/payments/cents';
import { movedBy, returnedBy, type Truth } from '#lib/control/billing/reconcile/truth';

/** A payment whose amount in the ledger differs from the amount that follows from Stripe. */
export interface Difference {
  readonly paymentIntent: string;
  readonly dueNano: bigint;
  readonly postedNano: bigint;
}

/** What the ledger must have for a payment: its credit less refunds and disputes. Nano-dollars. Pure. */
export function dueOf({ intent, refunds, disputes }: Truth): bigint {
  const cents = Number(intent.metadata.cents);
  if (intent.status !== 'succeeded' || !(cents > 0)) return 0n;
  const share = (part: number) => shareOf(cents, part, intent.amount_received);
  const { askedCents, failedCents } = returnedBy(intent, refunds);
  let due = nanoOf(cents) - share(askedCents - failedCents);
  for (const dispute of disputes) {
    const { withdrawn, reinstated } = movedBy(dispute);
    if (withdrawn && !reinstated) due -= share(dispute.amount);
  }
  return due;
}

const posted = `
  SELECT r.payment, coalesce(sum(l.amount_nano), 0)::text AS nano
  FROM unnest($1::text[], $2::text[]) AS r (payment, ref)
    JOIN ledger_line l ON l.kind <> 'usage' AND l.ref = r.ref AND l.kind IN ('top_up', 'dispute')
  GROUP BY r.payment
  UNION ALL
  SELECT split_part(l.ref, ':', 1), coalesce(sum(l.amount_nano), 0)::text FROM ledger_line l
  WHERE l.kind = 'refund' AND split_part(l.ref, ':', 1) = ANY ($3::text[]) GROUP BY 1`;

/** Compares all of them at once. @throws Error of the database. */
export async function findDifferences(pool: Pool, truths: readonly Truth[]): Promise<Difference[]> {
  const refs = truths.flatMap(({ intent, disputes }) =>
    [intent.id, ...disputes.flatMap(({ id }) => [id, `${id}:won`])].map((ref) => [intent.id, ref] as const),
  );
  const { rows } = await pool.query<{ payment: string; nano: string }>(posted, [
    refs.map(([payment]) => payment),
    refs.map(([, ref]) => ref),
    truths.map(({ intent }) => intent.id),
  ]);
  const found = new Map<string, bigint>();
  for (const { payment, nano } of rows) found.set(payment, (found.get(payment) ?? 0n) + BigInt(nano));
  return truths.flatMap((truth) => {
    const paymentIntent = truth.intent.id;
    const difference = { paymentIntent, dueNano: dueOf(truth), postedNano: found.get(paymentIntent) ?? 0n };
    return difference.dueNano === difference.postedNano ? [] : [difference];
  });
}
