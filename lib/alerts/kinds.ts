/** What a workspace is told of (contract: control-plane/alerts). */
export const alertKinds = [
  'limit',
  'key_expiring',
  'offer_trouble',
  'model_retiring',
  'low_balance',
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** A condition that holds now. */
export interface Found {
  readonly workspaceId: string;
  readonly kind: AlertKind;
  /** What it is about and at which level; one alert is open for each. */
  readonly subject: string;
  /** What it says, as JSON; nothing secret. */
  readonly facts: Readonly<Record<string, string | number | null>>;
}

/** How long after an alert was raised the same one is not raised again, though it has passed between; hours. */
export const quietHours: Readonly<Record<AlertKind, number>> = {
  limit: 6,
  key_expiring: 24 * 7,
  offer_trouble: 1,
  model_retiring: 24 * 7,
  low_balance: 6,
};

/** The event that a webhook hears, as JSON. */
export function eventBody(event: {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly workspace: string;
  readonly data: Readonly<Record<string, unknown>>;
}): string {
  return JSON.stringify(event);
}
