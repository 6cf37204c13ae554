import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { readTests, type Tested } from '#lib/control/operations/provider/tested';
import type { Address, ProviderFacts } from '#lib/core/facts/snapshot';
import { storedCredentialShape, storedFamiliesShape } from '#lib/core/schemas/catalogue';

const family = z.object({
  family: z.string(),
  address: z
    .string()
    .nullable()
    .describe('Versioned root URL, or the variable that contains it; null: it cannot be read.'),
  why: z.string().nullable().describe('Why no calls can be sent there; null: they can.'),
});

const credential = z.object({
  kind: z.enum(['none', 'variable', 'sealed']).describe('Where the credential is stored.'),
  variable: z.string().nullable().describe('The environment variable that contains it.'),
  usable: z.boolean().describe('Whether this process has it; its value is never shown.'),
  why: z.string().nullable().describe('Why not, and what to do; null: it is usable.'),
  tested: z
    .object({ at: z.iso.datetime(), failure: z.string().nullable().describe('null: it worked.') })
    .nullable()
    .describe('The latest test with this credential; null: it was not tested.'),
});

export const shownProvider = z.object({
  id: z.string(),
  name: z.string(),
  families: z.array(family),
  credential,
  onDisconnect: z.enum(['abort', 'drain']),
  pricesFrom: z.string().nullable().describe('The page where the provider publishes its prices.'),
  offers: z.int().describe('Number of offers that are not withdrawn.'),
});
export type ShownProvider = z.output<typeof shownProvider>;

export const listProviders = read({
  name: 'provider.list',
  summary:
    'Lists the providers with their addresses, and whether each has its credential; never the credential itself.',
  reach: 'gateway',
  permission: 'gateway:read',
  output: z.object({ data: z.array(shownProvider) }),
  http: [{ method: 'GET', path: '/providers' }],
  line: { columns: ['id', 'name', 'offers', 'credential'] },
  run: async (context) => {
    const rows = await context.store.prisma.provider.findMany({
      orderBy: { id: 'asc' },
      include: { _count: { select: { offers: { where: { withdrawnAt: null } } } } },
    });
    const { providers } = await context.catalogue();
    const tests = new Map((await readTests(context.store)).map((one) => [one.id, one]));
    return {
      data: rows.map((row) =>
        shown(row, row._count.offers, { facts: providers.get(row.id), test: tests.get(row.id) }),
      ),
    };
  },
});

interface Row {
  readonly id: string;
  readonly name: string;
  readonly families: unknown;
  readonly credential: unknown;
  readonly onDisconnect: string;
  readonly pricesFrom: string | null;
}

/** @param facts as read by this process; undefined: not read yet. */
function shown(
  row: Row,
  offers: number,
  { facts, test }: { readonly facts: ProviderFacts | undefined; readonly test: Tested | undefined },
): ShownProvider {
  const { id, name, pricesFrom } = row;
  return {
    id,
    name,
    pricesFrom,
    offers,
    families: familiesOf(row.families, facts),
    credential: {
      ...credentialOf(row.credential, facts?.credential != null),
      tested: test ? { at: test.at.toISOString(), failure: test.failure } : null,
    },
    onDisconnect: row.onDisconnect === 'abort' ? 'abort' : 'drain',
  };
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

function credentialOf(stored: unknown, usable: boolean): Omit<ShownProvider['credential'], 'tested'> {
  const none = { kind: 'none' as const, variable: null, usable: false };
  if (stored === null) return { ...none, why: 'set its credential' };
  const read = storedCredentialShape.safeParse(stored).data;
  if (read === undefined) return { ...none, why: 'the stored credential cannot be read; set it again' };
  if ('env' in read) {
    const why = usable ? null : `set ${read.env} in the environment of the gateway, or set a credential here`;
    return { kind: 'variable', variable: read.env, usable, why };
  }
  const why = usable
    ? null
    : 'it cannot be opened with ENCRYPTION_KEY; set the key that sealed it, or set the credential again';
  return { kind: 'sealed', variable: null, usable, why };
}
