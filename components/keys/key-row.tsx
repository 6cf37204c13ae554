import type { CallStatus } from '#lib/console/show/call-status';

/** A key in the list; times and amounts are formatted for display. */
export interface KeyRow {
  readonly id: string;
  readonly name: string;
  /** First and last characters: "mg_a1B2…x9Yz". */
  readonly masked: string;
  /** Whether it is enabled; its status says whether its calls are served. */
  readonly active: boolean;
  readonly revoked: boolean;
  readonly status: CallStatus;
  /** Its quota flag is set, whatever else its state is. */
  readonly exhausted: boolean;
  /** Slugs of the models it may call; null: all models. */
  readonly models: readonly string[] | null;
  /** Limits and further caps as text: "$5.00 a day", "60 RPM". */
  readonly limits: readonly string[];
  readonly spent30d: string;
  readonly exactSpent30d: string;
  readonly spentTotal: string;
  readonly exactSpentTotal: string;
  /** Who created it; null: unknown. */
  readonly creator: string | null;
  /** The cap closest to its limit; null without caps. */
  readonly cap: { readonly used: number; readonly text: string } | null;
  /** "2 min ago"; or "Never answered" with "last tried 1 min ago"; null: there was no call. */
  readonly lastUsed: { readonly text: string; readonly note: string | null; readonly exact: string } | null;
  readonly created: { readonly text: string; readonly exact: string };
  /** The last day: "31 Jan 2027"; null: it never expires, or has expired. */
  readonly expires: string | null;
  /** The secret from before the last rotation, while it still works. */
  readonly earlier: { readonly masked: string; readonly until: string } | null;
  /** Initial values of the edit form, by field. */
  readonly settings: Readonly<Record<string, string | readonly string[]>>;
  /** URL of the key's page. */
  readonly href: string;
  /** URL of the log, filtered to this key. */
  readonly logHref: string;
}
