import { z } from 'zod';
import { type ReadContext, read } from '#lib/control/operations/declare';
import { credentialKind } from '#lib/control/operations/provider/credential';
import { readTests, type Tested } from '#lib/control/operations/provider/tested';
import { defaultCredential } from '#lib/core/facts/pool';
import type { Address, Catalogue, ProviderFacts } from '#lib/core/facts/snapshot';
import { formatUsd } from '#lib/core/money';
import {
  cloudKinds,
  storedAuthShape,
  storedCredentialShape,
  storedFamiliesShape,
} from '#lib/core/schemas/catalogue';
import { type CredentialHealth, offerState } from '#lib/gateway/routing/health';
import type { LiveHealth } from '#lib/gateway/routing/live-health';
import { credentialAt } from '#lib/gateway/settlement/pure/record/stored-attempts';
import { idFloor } from '#lib/platform/ids';

const family = z.object({
  family: z.string(),
  address: z
    .string()
    .nullable()
    .describe('Versioned root URL, or the variable that contains it; null: it cannot be read.'),
  why: z.string().nullable().describe('Why no calls can be sent there; null: they can.'),
});

const credential = z.object({
  name: z.string(),
  kind: credentialKind.describe('Where the credential is stored; "not needed": the provider asks for none.'),
  variable: z.string().nullable().describe('The environment variable that contains it.'),
  usable: z.boolean().describe('Whether this process has it; its value is never shown.'),
  why: z.string().nullable().describe('Why not, and what to do; null: it is usable.'),
  weight: z.int().describe('Its share of the calls among credentials of its priority.'),
  priority: z.int().describe('The lowest is used first.'),
  rpm: z.int().nullable().describe('Its own limit of requests a minute; null: none.'),
  tpm: z.int().nullable().describe('Its own limit of tokens a minute; null: none.'),
  models: z.array(z.string()).nullable().describe('The models that it may serve; null: all.'),
  withdrawn: z.boolean().describe('Whether it gets no new calls.'),
  state: z
    .enum(['in service', 'set aside', 'refused', 'probing', 'untried'])
    .describe('As processes of this machine see it: the worst of its states at the models that were called.'),
  until: z.iso.datetime().nullable().describe('Set aside until then.'),
  lastError: z
    .object({ status: z.int().nullable(), what: z.string(), at: z.iso.datetime() })
    .nullable()
    .describe('The newest failed attempt in the memory of these processes.'),
  tested: z
    .object({ at: z.iso.datetime(), failure: z.string().nullable().describe('null: it worked.') })
    .nullable()
    .describe('The latest test with this credential; null: it was not tested.'),
  spend: z
    .string()
    .nullable()
    .describe(
      'What calls and jobs of the last 24 hours that it served were charged, in dollars; null: it is the only one of its provider.',
    ),
});
export type ShownCredential = z.output<typeof credential>;

export const shownProvider = z.object({
  id: z.string(),
  name: z.string(),
  families: z.array(family),
  credentials: z.array(credential),
  auth: z
    .enum(cloudKinds)
    .nullable()
    .describe('How credentials of its cloud are used; null: each is an API key.'),
  onDisconnect: z.enum(['abort', 'drain']),
  pricesFrom: z.string().nullable().describe('The page where the provider publishes its prices.'),
  stores: z
    .array(z.string())
    .describe('What requests that name no model may have the provider store, such as conversations.'),
  offers: z.int().describe('Number of offers that are not withdrawn.'),
  withdrawn: z.int().describe('Number of offers that are withdrawn.'),
  acceptNewModels: z
    .boolean()
    .describe('Whether new models in the price tables are accepted without asking.'),
});
export type ShownProvider = z.output<typeof shownProvider>;

export const listProviders = read({
  name: 'provider.list',
  summary:
    'Lists the providers with their addresses and the state of their credentials; never a credential itself.',
  reach: 'gateway',
  permission: 'gateway:read',
  output: z.object({ data: z.array(shownProvider) }),
  http: [{ method: 'GET', path: '/providers' }],
  line: { columns: ['id', 'name', 'offers', 'credentials'] },
  run: async (context) => ({ data: await readProviders(context) }),
});

/** @param id of the only one to read; absent: all of them, by id. */
export async function readProviders(context: ReadContext<'gateway'>, id?: string): Promise<ShownProvider[]> {
  const rows = await context.store.prisma.provider.findMany({
    ...(id === undefined ? {} : { where: { id } }),
    orderBy: { id: 'asc' },
    include: {
      _count: { select: { offers: { where: { withdrawnAt: null } } } },
      offers: { where: { withdrawnAt: { not: null } }, select: { id: true } },
      credentials: { orderBy: [{ createdAt: 'asc' }, { name: 'asc' }] },
    },
  });
  const catalogue = await context.catalogue();
  const pooled = rows.filter(({ credentials }) => credentials.some(({ secret }) => secret !== null));
  const known = {
    spend: await readSpend(
      context,
      pooled.map(({ id }) => id),
    ),
    standings: standingsOf(catalogue, await context.health(), context.nowMs),
    tests: await readTests(context.store),
  };
  return rows.map((row) => shown(row, catalogue.providers.get(row.id), known));
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly families: unknown;
  readonly credential: unknown;
  readonly credentials: readonly CredentialRow[];
  readonly auth: unknown;
  readonly onDisconnect: string;
  readonly pricesFrom: string | null;
  readonly stores: readonly string[];
  readonly acceptNewModels: boolean;
  /** Those that are withdrawn. */
  readonly offers: readonly { readonly id: string }[];
  /** Those that are not. */
  readonly _count: { readonly offers: number };
}

/** The settings of a row; that of the default credential may be missing, and never has the secret. */
interface CredentialRow {
  readonly name: string;
  readonly secret: unknown;
  readonly weight: number;
  readonly priority: number;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly models: readonly string[];
  readonly withdrawnAt: Date | null;
}

const plain = { weight: 1, priority: 1, rpm: null, tpm: null, models: [], withdrawnAt: null };

/** What is known of credentials by use; the keys are provider and name. */
interface Known {
  readonly spend: ReadonlyMap<string, string>;
  readonly standings: ReadonlyMap<string, Standing>;
  readonly tests: readonly Tested[];
}

/** @param facts as read by this process; undefined: not read yet. */
function shown(row: Row, facts: ProviderFacts | undefined, known: Known): ShownProvider {
  const { id, name, pricesFrom } = row;
  return {
    id,
    name,
    pricesFrom,
    stores: [...row.stores],
    offers: row._count.offers,
    withdrawn: row.offers.length,
    acceptNewModels: row.acceptNewModels,
    families: familiesOf(row.families, facts),
    credentials: credentialsOf(row, facts, known),
    auth: storedAuthShape.nullable().safeParse(row.auth).data?.kind ?? null,
    onDisconnect: row.onDisconnect === 'abort' ? 'abort' : 'drain',
  };
}

function credentialsOf(row: Row, facts: ProviderFacts | undefined, known: Known): ShownCredential[] {
  const own = row.credentials.find(({ name }) => name === defaultCredential);
  const others = row.credentials.filter(({ name }) => name !== defaultCredential);
  const first = { ...plain, ...own, name: defaultCredential, secret: row.credential };
  // A pool that has been given others and lost the default one does not lack it; one from a file may.
  const lost = row.credential === null && own === undefined && others.length > 0;
  const pool = lost ? others : [first, ...others];
  const usable = new Set(
    [...(facts?.credentials ?? []), ...(facts?.withdrawn ?? [])].map(({ name }) => name),
  );
  return pool.map(({ name, secret, weight, priority, rpm, tpm, models, withdrawnAt }) => {
    const key = keyOf(row.id, name);
    const test = known.tests.find((one) => one.provider === row.id && one.name === name);
    return {
      name,
      ...placeOf(secret, usable.has(name), facts?.credentialFaults?.get(name)),
      weight,
      priority,
      rpm,
      tpm,
      models: models.length > 0 ? [...models] : null,
      withdrawn: withdrawnAt !== null,
      ...(known.standings.get(key) ?? untried),
      tested: test ? { at: test.at.toISOString(), failure: test.failure } : null,
      spend: others.length > 0 ? (known.spend.get(key) ?? '0') : null,
    };
  });
}

type Standing = Pick<ShownCredential, 'state' | 'until' | 'lastError'>;

const untried: Standing = { state: 'untried', until: null, lastError: null };
const ranks: readonly Standing['state'][] = ['untried', 'in service', 'probing', 'set aside', 'refused'];

function keyOf(provider: string, name: string): string {
  return `${provider}/${name}`;
}

/** The worst state of each credential over all offers, its latest end and its newest error. Pure. */
function standingsOf({ models }: Catalogue, health: LiveHealth, nowMs: number): Map<string, Standing> {
  const standings = new Map<string, Standing>();
  for (const { offers } of models.values()) {
    for (const { id, provider } of offers) {
      for (const [name, one] of Object.entries(health.of(id).credentials)) {
        const key = keyOf(provider.id, name);
        standings.set(key, worse(standings.get(key) ?? untried, standingOf(one, nowMs)));
      }
    }
  }
  return standings;
}

function standingOf(one: CredentialHealth, nowMs: number): Standing {
  const { openUntilMs, refused, lastError } = one;
  return {
    state: refused ? 'refused' : offerState(one, nowMs),
    until: openUntilMs > nowMs ? new Date(openUntilMs).toISOString() : null,
    lastError: lastError && {
      status: lastError.status,
      what: lastError.what,
      at: new Date(lastError.atMs).toISOString(),
    },
  };
}

function worse(one: Standing, other: Standing): Standing {
  const later = (one.lastError?.at ?? '') > (other.lastError?.at ?? '') ? one : other;
  return {
    state: ranks.indexOf(one.state) > ranks.indexOf(other.state) ? one.state : other.state,
    until: (one.until ?? '') > (other.until ?? '') ? one.until : other.until,
    lastError: later.lastError,
  };
}

const dayMs = 86_400_000;

/** Charges of the last 24 hours by credential, in dollars. Made-up calls are left out. */
async function readSpend(
  { store, nowMs }: ReadContext<'gateway'>,
  providers: readonly string[],
): Promise<Map<string, string>> {
  if (providers.length === 0) return new Map();
  const rows = await store.query<{ key: string; cost: string }>(
    `SELECT key, sum(cost)::text AS cost FROM (
       SELECT c.provider || '/' || coalesce(c.attempts->-1->>${credentialAt}, '${defaultCredential}') AS key, c.cost_nano AS cost
       FROM call c JOIN workspace w ON w.id = c.workspace_id AND NOT w.demo
       WHERE c.id >= $1::uuid AND c.provider = ANY ($2::text[]) AND c.cost_nano <> 0
       UNION ALL
       SELECT provider_id || '/' || coalesce(credential, '${defaultCredential}'), cost_nano
       FROM job WHERE settled_at >= $3 AND provider_id = ANY ($2::text[])) AS charge GROUP BY key`,
    [idFloor(nowMs - dayMs), providers, new Date(nowMs - dayMs)],
  );
  return new Map(rows.map(({ key, cost }) => [key, formatUsd(BigInt(cost))]));
}

function familiesOf(stored: unknown, facts: ProviderFacts | undefined): ShownProvider['families'] {
  const families = storedFamiliesShape.safeParse(stored).data ?? {};
  return Object.entries(families).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const address = [...(facts?.families ?? [])].find(([family]) => family === name)?.[1];
    const named = typeof value === 'string' ? value : value.env;
    return { family: name, address: shownAddress(address) ?? named, why: whyNot(address) };
  });
}

function shownAddress(address: Address | undefined): string | null {
  return address?.state === 'ready' ? address.url.href.replace(/\/$/, '') : null;
}

function whyNot(address: Address | undefined): string | null {
  if (address === undefined) return 'this process has not read it yet';
  return address.state === 'ready' ? null : address.why;
}

/** Where a secret is stored, and what keeps it from being used. */
function placeOf(
  stored: unknown,
  usable: boolean,
  fault: string | undefined,
): Pick<ShownCredential, 'kind' | 'variable' | 'usable' | 'why'> {
  const none = { kind: 'none' as const, variable: null, usable: false };
  if (stored === null) return { ...none, why: 'set its credential' };
  const read = storedCredentialShape.safeParse(stored).data;
  if (read === undefined) return { ...none, why: 'the stored credential cannot be read; set it again' };
  if ('env' in read) {
    const unset = `set ${read.env} in the environment of the gateway, or set a credential here`;
    const why = usable ? null : fault === undefined ? unset : `${read.env} cannot be used: ${fault}`;
    return { kind: 'variable', variable: read.env, usable, why };
  }
  if ('none' in read) return { kind: 'not needed', variable: null, usable, why: null };
  const why = usable
    ? null
    : fault !== undefined
      ? `it cannot be used: ${fault}`
      : 'it cannot be opened with ENCRYPTION_KEY; set the key that sealed it, or set the credential again';
  return { kind: 'sealed', variable: null, usable, why };
}
