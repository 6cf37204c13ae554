import { showFamily } from '#lib/console/models/family-names';
import { showAgo, showSpan } from '#lib/console/show/time';
import type { ShownCredential, ShownProvider } from '#lib/control/operations/provider/list';
import type { Probed } from '#lib/control/operations/provider/probe';
import { showCount, showMoney } from '#lib/core/show-money';

/** A row of the table of providers. */
export interface ProviderRow {
  readonly id: string;
  readonly name: string;
  readonly offers: number;
  readonly families: readonly {
    readonly name: string;
    readonly address: string;
    readonly why: string | null;
  }[];
  readonly credentials: readonly CredentialRow[];
  /** How credentials of its cloud are used; null: each is an API key. */
  readonly auth: ShownProvider['auth'];
  /** Slugs of the models that it offers. */
  readonly models: readonly string[];
}

/** A credential as the table and its form show it. */
export interface CredentialRow {
  readonly name: string;
  /** Where it is stored. */
  readonly text: string;
  readonly given: boolean;
  readonly withdrawn: boolean;
  readonly state: {
    readonly tone: 'good' | 'warn' | 'bad' | 'neutral' | 'outline';
    /** "Works". */
    readonly text: string;
    /** "tested 2 min ago", or why it fails. */
    readonly note: string | null;
  };
  /** Weight, priority, limits, models and spend; of the only one of a provider, its limits. */
  readonly share: string | null;
  /** What is wrong with it; null: nothing is known. */
  readonly why: string | null;
  readonly initial: {
    readonly weight: string;
    readonly priority: string;
    readonly rpm: string;
    readonly tpm: string;
    readonly models: readonly string[] | null;
  };
}

/** @param models slugs of those that it offers. */
export function providerRowOf(
  { id, name, offers, families, credentials, auth }: ShownProvider,
  models: readonly string[],
  nowMs: number,
): ProviderRow {
  return {
    id,
    name,
    offers,
    auth,
    models,
    families: families.map(({ family, address, why: reason }) => ({
      name: showFamily(family),
      address: address ?? '',
      why: reason,
    })),
    credentials: credentials.map((one) => credentialRowOf(one, credentials.length > 1, nowMs)),
  };
}

function credentialRowOf(credential: ShownCredential, pooled: boolean, nowMs: number): CredentialRow {
  const { name, kind, variable, why, withdrawn, weight, priority, rpm, tpm, models } = credential;
  const places = {
    none: 'None',
    variable: variable ?? '',
    sealed: 'Stored, encrypted',
    'not needed': 'Not needed',
  };
  return {
    name,
    text: places[kind],
    given: kind !== 'none',
    withdrawn,
    state: stateOf(credential, nowMs),
    share: pooled ? shareOf(credential) : limitsOf(credential).join(' · ') || null,
    // That a variable is not set is said once, above the table.
    why: (why?.startsWith(`set ${variable} `) ? null : why) ?? errorOf(credential),
    initial: {
      weight: String(weight),
      priority: String(priority),
      rpm: rpm === null ? '' : String(rpm),
      tpm: tpm === null ? '' : String(tpm),
      models,
    },
  };
}

/** What calls have shown comes before what the latest test has. */
function stateOf(
  { usable, withdrawn, state, tested, variable, why }: ShownCredential,
  nowMs: number,
): CredentialRow['state'] {
  if (!usable && variable !== null && why?.startsWith(`${variable} `))
    return { tone: 'bad', text: 'Cannot be read', note: null };
  if (!usable) return { tone: 'outline', text: 'Missing', note: null };
  if (withdrawn) return { tone: 'outline', text: 'Withdrawn', note: null };
  if (state === 'refused') return { tone: 'bad', text: 'Refused', note: null };
  if (state === 'set aside') return { tone: 'warn', text: 'Set aside', note: null };
  if (state === 'probing') return { tone: 'warn', text: 'Probing', note: null };
  if (tested === null) {
    return state === 'in service'
      ? { tone: 'good', text: 'Works', note: 'in use' }
      : { tone: 'neutral', text: 'Not tested', note: null };
  }
  const ago = `tested ${showAgo(Date.parse(tested.at), nowMs)}`;
  return tested.failure === null
    ? { tone: 'good', text: 'Works', note: ago }
    : { tone: 'bad', text: 'Fails', note: `${tested.failure} (${ago})` };
}

/** "Weight 2 · priority 1 · 3 models · $12.30 in 24 hours". */
function shareOf(credential: ShownCredential): string {
  const { weight, priority, models, spend } = credential;
  const scope = models === null ? [] : [models.length === 1 ? '1 model' : `${models.length} models`];
  const spent = spend === null ? [] : [`${showMoney(spend)} in 24 hours`];
  return [`Weight ${weight}`, `priority ${priority}`, ...limitsOf(credential), ...scope, ...spent].join(
    ' · ',
  );
}

/** "500 requests a minute". */
function limitsOf({ rpm, tpm }: ShownCredential): string[] {
  const limits = [
    { limit: rpm, of: 'requests' },
    { limit: tpm, of: 'tokens' },
  ];
  return limits.flatMap(({ limit, of }) => (limit === null ? [] : [`${showCount(limit)} ${of} a minute`]));
}

/** "Last error: 429 rate_limit at 14:05:10 UTC". */
function errorOf({ lastError, state }: ShownCredential): string | null {
  if (lastError === null || state === 'in service' || state === 'untried') return null;
  const { status, what, at } = lastError;
  return `Last error: ${status === null ? '' : `${status} `}${what} at ${at.slice(11, 19)} UTC`;
}

/** What a test of a provider came to. */
export interface TestedProvider {
  readonly model: string;
  /** null: it was not kept. */
  readonly outcome: Omit<Probed, 'upstreamRequestId'> | null;
}

/**
 * The result of a test in a sentence: "acme/small answered 200 in 320 ms: 8 tokens in, 16 out, $0.000072."
 */
export function outcomeText({ model, outcome }: TestedProvider): string {
  if (outcome === null) return `${model} was called, but its answer was not kept. Run the test again.`;
  const { ok, status, durationMs, message, input, output, cost } = outcome;
  const span = showSpan(durationMs);
  if (!ok) {
    const what = status === null ? `did not answer (${span})` : `answered ${status} in ${span}`;
    return `${model} ${what}: ${message ?? 'no reason given'}`;
  }
  const used = input === null ? 'no usage reported' : `${input} tokens in, ${output ?? 0} out`;
  return `${model} answered ${status} in ${span}: ${used}${cost === null ? '' : `, ${showMoney(cost)}`}.`;
}
