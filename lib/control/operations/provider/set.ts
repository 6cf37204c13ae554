import { z } from 'zod';
import { type Context, change, type State } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { line, models as modelsField, toggle } from '#lib/control/operations/field/kinds';
import { addressField, displayName, providerTransaction } from '#lib/control/operations/provider/add';
import { noProvider, providerField } from '#lib/control/operations/provider/credential';
import { badInput, conflict, quoted } from '#lib/control/operations/refusal';
import { address, storedFamiliesShape } from '#lib/core/schemas/catalogue';

const providerState = z.object({
  name: z.string(),
  families: z.record(z.string(), z.unknown()).describe('The address of each protocol.'),
  pricesFrom: z.string().nullable(),
  acceptNewModels: z
    .boolean()
    .describe('Whether new models in the price tables are accepted without asking.'),
});

export const setProvider = change({
  name: 'provider.set',
  summary:
    'Changes the name, the address or the page of prices of a provider, or what becomes of its new models.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction: providerTransaction,
  fields: {
    provider: providerField,
    name: optional({ ...displayName, help: 'Shown to people.' }),
    url: optional(
      addressField({
        label: 'Address',
        help: 'The new address; protocols at another path of the old host keep their path.',
        placeholder: 'URL',
        example: 'http://localhost:11434/v1',
      }),
    ),
    pricesFrom: optional({
      ...line({ label: 'Page of prices', help: 'Where the provider publishes its prices.', empty: 'None' }),
      schema: z.string().trim().max(500).pipe(address).nullable(),
    }),
    acceptNewModels: optional(
      toggle({
        label: 'Accept new models',
        help: 'Whether new models that the price tables list for it are offered without asking.',
        example: true,
      }),
    ),
  },
  output: providerState.extend({ provider: z.string() }),
  http: [{ method: 'PATCH', path: '/providers/{provider}' }],
  line: { arguments: ['provider'] },
  text: ({ provider, name, families }) => `${provider} is ${name}, at ${Object.values(families).join(', ')}`,
  run: async (context, { provider: id, name, url, pricesFrom, acceptNewModels }) => {
    const before = await lockState(context, id);
    context.expect(before);
    const after = {
      name: name ?? before.name,
      families: url === undefined ? before.families : moved(before.families, url),
      pricesFrom: pricesFrom === undefined ? before.pricesFrom : pricesFrom,
      acceptNewModels: acceptNewModels ?? before.acceptNewModels,
    };
    const changed = JSON.stringify(before) !== JSON.stringify(after);
    if (changed) await context.store.prisma.provider.update({ where: { id }, data: after });
    return {
      result: { provider: id, ...after },
      subject: `provider ${id}`,
      before,
      after,
      changes: changed ? [{ kind: 'catalogue', subject: '' }] : [],
    };
  },
});

async function lockState({ store }: Context<'gateway'>, id: string) {
  const row = await store.prisma.provider.findUnique({ where: { id } });
  if (row === null) throw noProvider(id);
  const families = storedFamiliesShape.safeParse(row.families).data ?? {};
  const { name, pricesFrom, acceptNewModels } = row;
  return { name, families, pricesFrom, acceptNewModels } satisfies State;
}

type Families = z.output<typeof storedFamiliesShape>;

/**
 * The addresses at another root. The first protocol's address is the old root: those that are there too move to the new
 * one, those on its host keep their path. Pure. @throws ControlRefused if the address is that of a variable.
 */
export function moved(families: Families, url: string): Families {
  const old = Object.values(families).find((one) => typeof one === 'string');
  if (old === undefined)
    throw badInput('url', "this provider's address is in a variable of the environment; change it there");
  const to = url.replace(/\/+$/, '');
  const [from, target] = [new URL(old), new URL(to)];
  const entries = Object.entries(families).map(([family, one]) => {
    if (typeof one !== 'string') return [family, one];
    if (one === old) return [family, to];
    const { origin, pathname } = new URL(one);
    return [family, origin === from.origin ? `${target.origin}${pathname}`.replace(/\/+$/, '') : one];
  });
  return Object.fromEntries(entries);
}

/** Its offers get no new calls; prices, history and what it stores stay. */
export const withdrawProvider = change({
  name: 'provider.withdraw',
  summary:
    'Withdraws models of a provider, or all of them: they get no new calls from it, and keep their history.',
  reach: 'gateway',
  permission: 'gateway:write',
  transaction: providerTransaction,
  fields: {
    provider: providerField,
    models: optional(modelsField({ label: 'Models', help: 'The slugs to withdraw.' })),
  },
  output: z.object({
    provider: z.string(),
    withdrawn: z.array(z.string()).describe('The slugs that were withdrawn.'),
  }),
  http: [{ method: 'POST', path: '/providers/{provider}/withdraw' }],
  line: { arguments: ['provider'] },
  text: ({ provider, withdrawn }) =>
    withdrawn.length === 0 ? 'no change' : `${provider} no longer offers ${withdrawn.join(', ')}`,
  run: async ({ store, nowMs }, { provider: id, models = null }) => {
    if ((await store.prisma.provider.findUnique({ where: { id }, select: { id: true } })) === null)
      throw noProvider(id);
    const offers = await store.prisma.offer.findMany({
      where: { providerId: id, ...(models && { modelId: { in: models } }) },
      orderBy: { modelId: 'asc' },
    });
    const unknown = models?.find((slug) => !offers.some(({ modelId }) => modelId === slug));
    if (unknown !== undefined) throw conflict(`${id} does not offer ${quoted(unknown)}`, 'models');
    const gone = offers.filter(({ withdrawnAt }) => withdrawnAt === null);
    await store.prisma.offer.updateMany({
      where: { id: { in: gone.map((offer) => offer.id) } },
      data: { withdrawnAt: new Date(nowMs) },
    });
    const states = (withdrawn: boolean) =>
      Object.fromEntries(gone.map(({ modelId }) => [`offer ${modelId} ${id}`, { withdrawn }]));
    return {
      result: { provider: id, withdrawn: gone.map(({ modelId }) => modelId) },
      subject: `provider ${id}`,
      before: states(false),
      after: states(true),
      changes: gone.length > 0 ? [{ kind: 'catalogue', subject: '' }] : [],
    };
  },
});
