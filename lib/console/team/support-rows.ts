import { showAgo, showDay } from '#lib/console/show/time';
import { showMoney, showMoneyDown } from '#lib/core/show-money';

interface Found {
  readonly slug: string;
  readonly promos: readonly {
    readonly id: string;
    readonly reason: string | null;
    readonly amount: string;
    readonly left: string;
    readonly expiresAt: string;
  }[];
  readonly members: readonly { readonly id: string; readonly email: string; readonly role: string }[];
  readonly keys: readonly {
    readonly id: string;
    readonly name: string;
    readonly masked: string;
    readonly status: { readonly text: string; readonly note: string | null };
  }[];
  readonly refusals: readonly { readonly code: string; readonly at: string; readonly call: string }[];
  readonly calls: readonly {
    readonly id: string;
    readonly at: string;
    readonly status: number;
    readonly errorCode: string | null;
    readonly requestedModel: string | null;
    readonly provider: string | null;
  }[];
  readonly trail: readonly {
    readonly id: string;
    readonly who: string;
    readonly did: string;
    readonly time: { readonly text: string };
  }[];
}

/** A row of a table of the support view; a cell with a URL is a link. */
export interface SupportRow {
  readonly id: string;
  readonly cells: readonly (string | { readonly text: string; readonly href: string })[];
}

/**
 * What the support view shows of a workspace besides its figures; keys only by their visible characters.
 * Pure.
 */
export function supportRows(found: Found, nowMs: number) {
  const ago = (iso: string) => showAgo(Date.parse(iso), nowMs);
  const link = (call: string) => ({
    text: `${call.slice(0, 13)}…`,
    href: `/${found.slug}/logs/${call}`,
  });
  const failed = [...found.calls].sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, 10);
  return {
    promos: found.promos.map(({ id, reason, amount, left, expiresAt }) => ({
      id,
      cells: [reason ?? '–', showMoney(amount), showMoneyDown(left), showDay(Date.parse(expiresAt), 'UTC')],
    })),
    members: found.members.map(({ id, email, role }) => ({
      id,
      cells: [email, `${role.charAt(0).toUpperCase()}${role.slice(1)}`],
    })),
    keys: found.keys.map(({ id, name, masked, status: { text, note } }) => ({
      id,
      cells: [name, masked, note === null ? text : `${text} (${note})`],
    })),
    refusals: found.refusals.map(({ code, at, call }) => ({
      id: call + code,
      cells: [code, ago(at), link(call)],
    })),
    calls: failed.map(({ id, at, status, errorCode, requestedModel, provider }) => ({
      id,
      cells: [
        link(id),
        `${status}${errorCode === null ? '' : ` ${errorCode}`}`,
        requestedModel ?? '–',
        provider ?? 'none',
        ago(at),
      ],
    })),
    trail: found.trail.map(({ id, who, did, time }) => ({ id, cells: [`${who} ${did}`, time.text] })),
  } satisfies Readonly<Record<string, readonly SupportRow[]>>;
}
