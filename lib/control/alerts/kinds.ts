import type { AlertData, AlertKind } from '#lib/control/alerts/events';

/** Kinds of alerts (contract: control-plane/alerts). */
export const alertKinds = [
  'limit',
  'key_expiring',
  'offer_trouble',
  'model_retiring',
  'budget',
  'low_balance',
  'auto_top_up_paused',
  'view',
  'bad_answers',
] as const satisfies readonly AlertKind[];

/** Kinds with a mail of their own, to the members who may pay. */
export const ownMail: ReadonlySet<AlertKind> = new Set(['low_balance', 'auto_top_up_paused']);

/** Kinds that also go to the members who manage billing. */
export const forBilling: ReadonlySet<AlertKind> = new Set(['budget']);

/** A condition that is true now. */
export type Found = {
  readonly [Kind in AlertKind]: {
    readonly workspaceId: string;
    readonly kind: Kind;
    /** What it is about, and its level; at most one alert is open for each. */
    readonly subject: string;
    /** The `data` of its event; nothing secret. */
    readonly facts: AlertData<Kind>;
  };
}[AlertKind];

/** For how long the same alert is not raised again, even if it ended in between; hours. */
export const quietHours: Readonly<Record<AlertKind, number>> = {
  limit: 6,
  key_expiring: 24 * 7,
  offer_trouble: 1,
  model_retiring: 24 * 7,
  budget: 6,
  low_balance: 6,
  auto_top_up_paused: 0,
  view: 1,
  bad_answers: 24,
};
