import type { CallStatus } from '#lib/console/show/call-status';

/** One key of the list; times and money are ready to read. */
export interface KeyRow {
  readonly id: string;
  readonly name: string;
  /** First and last characters: "mg_a1B2…x9Yz". */
  readonly masked: string;
  /** Whether it is switched on; whether its calls are served is its status. */
  readonly active: boolean;
  readonly revoked: boolean;
  readonly status: CallStatus;
  /** Its quota flag is set, whatever else its state is. */
  readonly exhausted: boolean;
  /** Slugs that it may call; null: all models. */
  readonly models: readonly string[] | null;
  /** Limits and further caps in words: "$5.00 a day", "60 RPM". */
  readonly limits: readonly string[];
  readonly spent30d: string;
  readonly exactSpent30d: string;
  /** The cap nearest to being reached; null without caps. */
  readonly cap: { readonly used: number; readonly text: string } | null;
  /** "2 min ago"; or "Never answered" with "last tried 1 min ago"; null: there was no call. */
  readonly lastUsed: { readonly text: string; readonly note: string | null; readonly exact: string } | null;
  readonly created: { readonly text: string; readonly exact: string };
  /** The last day: "31 Jan 2027"; null: never, or over. */
  readonly expires: string | null;
  /** The secret before the last rotation, while it still works. */
  readonly earlier: { readonly masked: string; readonly until: string } | null;
  /** What an edit starts with, by field. */
  readonly settings: Readonly<Record<string, string | readonly string[]>>;
  /** The page of this key. */
  readonly href: string;
  /** The log, narrowed to this key. */
  readonly logHref: string;
}
