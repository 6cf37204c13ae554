import type { Context } from '#lib/control/declare';
import { badInput, notFound, quoted } from '#lib/control/refusal';
import type { Store } from '#lib/control/store';
import { mergePolicy, orderedAndDrawn } from '#lib/routing/rules';
import { policyShape } from '#lib/schemas/policy';
import type { Policy } from '#lib/snapshot/snapshot';

/** The policies of a workspace that are in force, by model; "" is the default. */
export type Stored = ReadonlyMap<string, { readonly version: number; readonly policy: unknown }>;

/** The newest version of each policy of the workspace. */
export async function readPolicies({ store, scope }: Context<'workspace'>): Promise<Stored> {
  const rows = await store.prisma.policy.findMany({
    where: { workspaceId: scope.workspaceId },
    distinct: ['modelId'],
    orderBy: [{ modelId: 'asc' }, { version: 'desc' }],
  });
  return new Map(rows.map(({ modelId, version, policy }) => [modelId, { version, policy }]));
}

/**
 * Checks a policy against the catalogue and its neighbours.
 * @param model "" for the default.
 * @throws ControlRefused for names that the catalogue does not hold, and for what contradicts itself.
 */
export async function checkPolicy(
  store: Store,
  stored: Stored,
  model: string,
  policy: Policy,
): Promise<void> {
  await refuseUnknown(store, model, policy);
  await refuseUnusedAliases(store, model, policy);
  refuseContradiction(stored, model, policy);
}

/** A name that the catalogue does not hold would do nothing in silence. */
async function refuseUnknown({ prisma }: Store, model: string, policy: Policy): Promise<void> {
  const { order = [], only = [], ignore = [], weights = {}, fallbackModels = [] } = policy;
  const providers = [...new Set([...order, ...only, ...ignore, ...Object.keys(weights)])];
  const named = [...fallbackModels, ...Object.values(policy.aliases ?? {}).flat()];
  const models = [...new Set(model === '' ? named : [model, ...named])];
  const known = await prisma.provider.findMany({ where: { id: { in: providers } }, select: { id: true } });
  const found = await prisma.model.findMany({ where: { id: { in: models } }, select: { id: true } });
  const missing = models.filter((id) => !found.some((one) => one.id === id));
  if (missing.includes(model)) throw noModel(model);
  const unknown = [
    ...missing.map((id) => `model ${quoted(id)}`),
    ...providers.filter((id) => !known.some((one) => one.id === id)).map((id) => `provider ${quoted(id)}`),
  ];
  if (unknown.length === 0) return;
  throw badInput('policy', `there is no ${unknown.slice(0, 10).join(', no ')}; ${whereNamesStand}`);
}

/** 404: the catalogue does not hold the model whose policy is asked for. */
export function noModel(model: string) {
  return notFound(`there is no model ${quoted(model)}; ${whereNamesStand}`, 'model');
}

const whereNamesStand = '"gateway catalogue list" and GET /api/v1/models have what the catalogue holds';

/** A call is known by its alias before any model's policy applies, and a slug is never taken for an alias. */
async function refuseUnusedAliases(
  { prisma }: Store,
  model: string,
  { aliases = {} }: Policy,
): Promise<void> {
  const names = Object.keys(aliases);
  if (names.length === 0) return;
  if (model !== '') {
    throw badInput('policy', "aliases stand in the workspace's default policy: set them without a model");
  }
  const [slug] = await prisma.model.findMany({ where: { id: { in: names } }, select: { id: true }, take: 1 });
  if (!slug) return;
  throw badInput(
    'policy',
    `alias ${quoted(slug.id)} is the id of a model, which comes first: choose another`,
  );
}

/** Each alone may be sound while a model's policy over the default is not (contract: routing/weights). */
function refuseContradiction(stored: Stored, model: string, policy: Policy): void {
  const all = new Map([...stored].map(([name, one]) => [name, readable(one.policy)]));
  all.set(model, policy);
  for (const [name, own] of all) {
    const both = name === '' ? [] : orderedAndDrawn(mergePolicy(all.get(''), own));
    if (both.length === 0) continue;
    throw badInput(
      'policy',
      `provider "${both.join('", "')}" would be in both order and weights for ${name}, where the model's policy stands over the default: keep it in one of them`,
    );
  }
}

/** What was written past the operations contradicts nothing; it leaves no offer anyway. */
function readable(stored: unknown): Policy {
  const parsed = policyShape.safeParse(stored);
  return parsed.success ? parsed.data : {};
}
