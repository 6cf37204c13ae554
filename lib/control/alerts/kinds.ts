import type { AlertData, AlertKind } from '#lib/control/alerts/events';

/** What a workspace is told of (contract: control-plane/alerts). */
export const alertKinds = [
  'limit',
  'key_expiring',
  'offer_trouble',
  'model_retiring',
  'low_balance',
] as const satisfies readonly AlertKind[];

/** A condition that holds now. */
export type Found = {
  readonly [Kind in AlertKind]: {
    readonly workspaceId: string;
    readonly kind: Kind;
    /** What it is about and at which level; one alert is open for each. */
    readonly subject: string;
    /** What it says: the `data` of its event; nothing secret. */
    readonly facts: AlertData<Kind>;
  };
}[AlertKind];

/** How long after an alert was raised the same one is not raised again, though it has passed between; hours. */
export const quietHours: Readonly<Record<AlertKind, number>> = {
  limit: 6,
  key_expiring: 24 * 7,
  offer_trouble: 1,
  model_retiring: 24 * 7,
  low_balance: 6,
};
