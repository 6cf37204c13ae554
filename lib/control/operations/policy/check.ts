import type { Context } from '#lib/control/operations/declare';
import { badInput, notFound, quoted } from '#lib/control/operations/refusal';
import type { Store } from '#lib/control/operations/store';
import type { Policy } from '#lib/core/facts/snapshot';
import { orderedAndDrawn, policyShape, withTranslate } from '#lib/core/schemas/policy';
import { mergePolicy } from '#lib/gateway/routing/pure/rules';

/** The current policies of a workspace, by model; "" is the default. */
export type Stored = ReadonlyMap<string, { readonly version: number; readonly policy: unknown }>;

/** The newest version of each policy of the workspace. */
export async function readPolicies({ store, scope }: Context<'workspace'>): Promise<Stored> {
  const rows = await store.prisma.policy.findMany({
    where: { workspaceId: scope.workspaceId },
    distinct: ['modelId'],
    orderBy: [{ modelId: 'asc' }, { version: 'desc' }],
  });
  return new Map(
    rows.map(({ modelId, version, policy, translate }) => {
      return [modelId, { version, policy: withTranslate(policy, translate) }];
    }),
  );
}

/** An error in a policy, and where it is. */
export interface Fault {
  readonly at: readonly string[];
  readonly message: string;
}

/**
 * Checks a policy against the catalogue and the other policies.
 * @param model "" for the default.
 * @throws ControlRefused for names that are not in the catalogue, and for contradictions.
 */
export async function checkPolicy(
  store: Store,
  stored: Stored,
  model: string,
  policy: Policy,
): Promise<void> {
  const unknown = await unknownIn(store, model, policy);
  if (unknown.some(({ kind, id }) => kind === 'model' && id === model)) throw noModel(model);
  if (unknown.length > 0) {
    const named = [...new Set(unknown.map(({ kind, id }) => `${kind} ${quoted(id)}`))].slice(0, 10);
    throw badInput('policy', `there is no ${named.join(', no ')}; ${whereNamesStand}`);
  }
  const [first] = [...(await unusedAliases(store, model, policy)), ...contradictions(stored, model, policy)];
  if (first) throw badInput('policy', first.message);
}

/** The same for an editor: all errors at once. @param policy well formed. */
export async function faultsOf(
  store: Store,
  stored: Stored,
  model: string,
  policy: Policy,
): Promise<readonly Fault[]> {
  const unknown = await unknownIn(store, model, policy);
  return [
    ...unknown.map(({ kind, id, at }) => ({ at, message: `there is no ${kind} ${quoted(id)}` })),
    ...(await unusedAliases(store, model, policy)),
    ...contradictions(stored, model, policy),
  ];
}

interface Named {
  readonly kind: 'model' | 'provider';
  readonly id: string;
  readonly at: readonly string[];
}

/** Names that are not in the catalogue, which would silently do nothing. Models first. */
async function unknownIn({ prisma }: Store, model: string, policy: Policy): Promise<readonly Named[]> {
  const list = (kind: Named['kind'], ids: readonly string[], ...at: string[]): Named[] =>
    ids.map((id, index) => ({ kind, id, at: [...at, String(index)] }));
  const aliases = Object.entries(policy.aliases ?? {}).flatMap(([name, target]) =>
    typeof target === 'string'
      ? [{ kind: 'model' as const, id: target, at: ['aliases', name] }]
      : list('model', target, 'aliases', name),
  );
  const named: Named[] = [
    ...(model === '' ? [] : [{ kind: 'model' as const, id: model, at: [] }]),
    ...list('model', policy.fallbackModels ?? [], 'fallbackModels'),
    ...aliases,
    ...(['order', 'only', 'ignore'] as const).flatMap((key) => list('provider', policy[key] ?? [], key)),
    ...Object.keys(policy.weights ?? {}).map((id) => ({
      kind: 'provider' as const,
      id,
      at: ['weights', id],
    })),
  ];
  const idsOf = (kind: Named['kind']) => [
    ...new Set(named.flatMap((one) => (one.kind === kind ? one.id : []))),
  ];
  const select = { id: true } as const;
  const providers = await prisma.provider.findMany({ where: { id: { in: idsOf('provider') } }, select });
  const models = await prisma.model.findMany({ where: { id: { in: idsOf('model') } }, select });
  const known = {
    provider: new Set(providers.map(({ id }) => id)),
    model: new Set(models.map(({ id }) => id)),
  };
  return named.filter(({ kind, id }) => !known[kind].has(id));
}

/** 404: the model of the policy is not in the catalogue. */
export function noModel(model: string) {
  return notFound(`there is no model ${quoted(model)}; ${whereNamesStand}`, 'model');
}

const whereNamesStand = '"gateway catalogue list" and GET /api/v1/models list what is in the catalogue';

/** Aliases are resolved before a model's policy applies, and a slug is never treated as an alias. */
async function unusedAliases({ prisma }: Store, model: string, { aliases = {} }: Policy): Promise<Fault[]> {
  const names = Object.keys(aliases);
  if (names.length === 0) return [];
  if (model !== '') {
    const message = 'aliases belong in the default policy of the workspace; set them without a model';
    return [{ at: ['aliases'], message }];
  }
  const slugs = await prisma.model.findMany({ where: { id: { in: names } }, select: { id: true } });
  return slugs.map(({ id }) => ({
    at: ['aliases', id],
    message: `alias ${quoted(id)} is the id of a model, which takes precedence; choose another alias`,
  }));
}

/** Policies may be valid on their own, but not a model's policy combined with the default (contract: routing/weights). */
function contradictions(stored: Stored, model: string, policy: Policy): Fault[] {
  const all = new Map([...stored].map(([name, one]) => [name, readable(one.policy)]));
  all.set(model, policy);
  return [...all].flatMap(([name, own]) => {
    const both = name === '' ? [] : orderedAndDrawn(mergePolicy(all.get(''), own));
    if (both.length === 0) return [];
    const message = `provider "${both.join('", "')}" would be in both order and weights for ${name}, where the model's policy overrides the default; keep it in only one of them`;
    return [{ at: ['weights', ...both.slice(0, 1)], message }];
  });
}

/** A policy that is not valid, written by hand, contradicts nothing; it allows no offers anyway. */
function readable(stored: unknown): Policy {
  const parsed = policyShape.safeParse(stored);
  return parsed.success ? parsed.data : {};
}
