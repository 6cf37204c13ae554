import { showAgo, showMoment, showZone } from '#lib/console/show/time';
import type { ShownOwnKey } from '#lib/control/operations/own-key/fields';

/** An own key, formatted. */
export interface OwnKeyRow {
  readonly id: string;
  readonly name: string;
  /** For people. */
  readonly provider: string;
  /** Its own address; null: the provider's. */
  readonly address: string | null;
  readonly use: ShownOwnKey['use'];
  /** Slugs of the models that it may serve; null: all that the provider offers. */
  readonly models: readonly string[] | null;
  /** Slugs of the models that it could serve. */
  readonly offered: readonly string[];
  readonly state: {
    readonly tone: 'good' | 'bad' | 'outline';
    readonly text: string;
    /** When it was tested, or what is wrong; null: nothing to add. */
    readonly note: string | null;
    /** The exact time of the test; null: it was not tested. */
    readonly exact: string | null;
  };
}

/** The name of a provider, and the models that it offers. */
export interface OwnKeyProvider {
  readonly id: string;
  readonly name: string;
  readonly models: readonly string[];
}

interface OwnKeyPlace {
  readonly providers: readonly OwnKeyProvider[];
  readonly timeZone: string;
  readonly nowMs: number;
}

export function ownKeyRowOf(key: ShownOwnKey, place: OwnKeyPlace): OwnKeyRow {
  const provider = place.providers.find(({ id }) => id === key.provider);
  return {
    id: key.id,
    name: key.name,
    provider: provider?.name ?? key.provider,
    address: key.address,
    use: key.use,
    models: key.models,
    offered: provider?.models ?? [],
    state: stateOf(key, place),
  };
}

function stateOf({ state, failure, testedAt }: ShownOwnKey, { timeZone, nowMs }: OwnKeyPlace) {
  const atMs = testedAt === null ? null : Date.parse(testedAt);
  const exact = atMs === null ? null : `${showMoment(atMs, timeZone)} (${showZone(timeZone, atMs)})`;
  if (state === 'not allowed')
    return { tone: 'outline', text: 'Not used', note: 'The operator does not allow it now.', exact } as const;
  if (failure !== null) {
    // The key that passed its test before goes on serving calls.
    const kept = state === 'in use' ? ' Calls still use the key that last passed its test.' : '';
    return { tone: 'bad', text: 'Fails', note: `${sentence(failure)}${kept}`, exact } as const;
  }
  if (state === 'not tested') return { tone: 'outline', text: 'Not tested', note: null, exact } as const;
  const note = atMs === null ? null : `tested ${showAgo(atMs, nowMs)}`;
  return { tone: 'good', text: 'Works', note, exact } as const;
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** What calls by own keys cost, in sentences (contract: own-keys/fee, own-keys/hold). @param feePercent "5". */
export function ownKeyTerms(feePercent: string): readonly { readonly name: string; readonly text: string }[] {
  const free = feePercent === '0';
  return [
    {
      name: 'Fee',
      text: free
        ? 'Your provider bills you for calls by an own key. Here they cost nothing.'
        : `Your provider bills you for calls by an own key. Here they cost ${feePercent}% of the list price.`,
    },
    {
      name: 'Funds',
      text: `Every call needs positive funds${free ? ', although the fee is 0' : ''}. A call that only own keys can answer holds ${free ? 'nothing' : 'the fee'}; any other holds its list price.`,
    },
    {
      name: 'Fallback',
      text: 'If the gateway’s credential answers because an own key cannot, the call costs its list price. The log marks such calls.',
    },
    {
      name: 'Limits',
      text: `Budgets, caps and quotas count ${free ? 'these calls at $0' : 'the fee'}. Usage also shows what they would have cost at list price.`,
    },
  ];
}
