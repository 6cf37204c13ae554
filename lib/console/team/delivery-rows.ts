import { showAgo, showMoment, showZone } from '#lib/console/show/time';

interface ListedDelivery {
  readonly id: string;
  readonly event: string;
  readonly state: 'delivered' | 'waiting' | 'given up';
  readonly tries: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly createdAt: string;
  readonly deliveredAt: string | null;
  readonly nextTryAt: string | null;
}

/** A delivery, formatted. */
export interface DeliveryRow {
  readonly id: string;
  readonly event: string;
  readonly state: string;
  readonly tone: 'good' | 'warn' | 'bad';
  readonly tries: number;
  readonly answer: string;
  /** When it is tried again; null: it is not. */
  readonly next: string | null;
  readonly queued: { readonly text: string; readonly exact: string };
  /** null: not yet. */
  readonly delivered: { readonly text: string; readonly exact: string } | null;
}

const tones = { delivered: 'good', waiting: 'warn', 'given up': 'bad' } as const;

export function deliveryRowOf(one: ListedDelivery, place: { timeZone: string; nowMs: number }): DeliveryRow {
  const { id, event, state, tries, status, error, nextTryAt } = one;
  const { timeZone, nowMs } = place;
  const timeOf = (atMs: number) => ({
    text: showAgo(atMs, nowMs),
    exact: `${showMoment(atMs, timeZone)} (${showZone(timeZone, atMs)})`,
  });
  return {
    id,
    event,
    state,
    tries,
    tone: tones[state],
    answer: error ?? (status === null ? 'none yet' : String(status)),
    next: nextTryAt === null ? null : `next try ${showAgo(Date.parse(nextTryAt), nowMs)}`,
    queued: timeOf(Date.parse(one.createdAt)),
    delivered: one.deliveredAt === null ? null : timeOf(Date.parse(one.deliveredAt)),
  };
}
