import type { BadgeTone } from '#components/ui/badge';
import type { KeyState } from '#lib/console/show/key/rows';

/** One key of the list; times and money are ready to read. */
export interface KeyRow {
  readonly id: string;
  readonly name: string;
  /** First and last characters: "mg_a1B2…x9Yz". */
  readonly masked: string;
  readonly state: KeyState;
  /** Its quota flag is set, whatever else its state is. */
  readonly exhausted: boolean;
  /** Slugs that it may call; null: all models. */
  readonly models: readonly string[] | null;
  /** Limits in words: "60 RPM", "4,000 output tokens". */
  readonly limits: readonly string[];
  readonly spent30d: string;
  readonly exactSpent30d: string;
  /** The cap nearest to being reached; null without caps. */
  readonly cap: { readonly used: number; readonly text: string } | null;
  readonly lastUsed: { readonly text: string; readonly exact: string } | null;
  readonly created: { readonly text: string; readonly exact: string };
  /** In words: "until 31 Jan 2027"; null: never, or over. */
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

export const keyStates: Record<KeyState, { tone: BadgeTone; text: string; why: string }> = {
  active: { tone: 'good', text: 'Active', why: 'Calls with this key are served.' },
  inactive: {
    tone: 'neutral',
    text: 'Disabled',
    why: 'Calls are refused with 403 until the key is enabled.',
  },
  revoked: { tone: 'bad', text: 'Revoked', why: 'This key is gone for good; calls are refused with 401.' },
  exhausted: {
    tone: 'warn',
    text: 'Quota used up',
    why: 'Calls are refused with 402 until the quota is raised.',
  },
  ownerless: {
    tone: 'warn',
    text: 'Creator left',
    why: 'Calls are refused with 403: the member who made this key is gone. Create a new one.',
  },
  expired: { tone: 'warn', text: 'Expired', why: 'Calls are refused with 403 since the key expired.' },
};
