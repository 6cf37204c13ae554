import { z } from 'zod';
import { isUuid } from '#lib/control/field/kinds';
import type { Db } from '#lib/data/db';
import { mergePolicy, orderedAndDrawn } from '#lib/routing/rules';
import { parsePolicy, policyShape } from '#lib/schemas/policy';
import type { Policy } from '#lib/snapshot/snapshot';
import { lockWorkspace } from '#lib/verbs/subject';
import { parseInput, runVerb, type Tx, VerbRefused } from '#lib/verbs/verb';

/** Which policy: "" is the workspace's default. */
const place = { workspace: z.string(), model: z.string().default('') };
const setShape = z.strictObject({ ...place, policy: policyShape });
const rollBackShape = z.strictObject(place);
export type SetPolicyInput = z.input<typeof setShape>;
export type RollBackPolicyInput = z.input<typeof rollBackShape>;

/**
 * Puts a routing policy in force for a workspace, or for one model in it, where its keys replace the
 * default's (decisions §12). Earlier versions stay as history.
 * @throws VerbRefused for names that the catalogue does not hold, and for what contradicts itself.
 */
export async function setPolicy(db: Db, actor: string, input: SetPolicyInput): Promise<{ version: number }> {
  const { workspace, model, policy } = parseInput(setShape, input);
  return runVerb(db, actor, async (tx) => {
    // The lock on the workspace makes version numbers of one policy follow each other.
    const { id } = await lockWorkspace(tx, workspace);
    const version = await write(tx, actor, id, model, policy);
    return {
      result: { version },
      audit: { workspaceId: id, action: 'policy.set', subject: id, detail: { model, version, policy } },
      changes: [{ kind: 'policy', subject: id }],
    };
  });
}

/**
 * Takes the last change of a policy back: what was in force before it is in force again, as a new
 * version. Before the first version stands the empty policy; a second roll-back undoes the first.
 * @throws VerbRefused when there is none, or when the catalogue lost what it names.
 */
export async function rollBackPolicy(
  db: Db,
  actor: string,
  input: RollBackPolicyInput,
): Promise<{ version: number; restored: number | null; policy: Policy }> {
  const { workspace, model } = parseInput(rollBackShape, input);
  return runVerb(db, actor, async (tx) => {
    const { id } = await lockWorkspace(tx, workspace);
    const [newest, before] = await tx.policy.findMany({
      where: { workspaceId: id, modelId: model },
      orderBy: { version: 'desc' },
      take: 2,
    });
    if (!newest) {
      throw new VerbRefused(
        `${model === '' ? 'the default policy' : `the policy for "${model}"`} was never set, so there is nothing to roll back`,
        'model',
      );
    }
    const policy = before ? parsePolicy(before.policy) : {};
    const version = await write(tx, actor, id, model, policy);
    const restored = before?.version ?? null;
    return {
      result: { version, restored, policy },
      audit: {
        workspaceId: id,
        action: 'policy.rollback',
        subject: id,
        detail: { model, version, restored, policy },
      },
      changes: [{ kind: 'policy', subject: id }],
    };
  });
}

/** Checks a policy against the catalogue and its neighbours, and adds it as the newest version. */
async function write(tx: Tx, actor: string, workspaceId: string, model: string, policy: Policy) {
  await refuseUnknown(tx, model, policy);
  await refuseUnusedAliases(tx, model, policy);
  const rows = await tx.policy.findMany({
    where: { workspaceId },
    distinct: ['modelId'],
    orderBy: [{ modelId: 'asc' }, { version: 'desc' }],
  });
  const stored = new Map(rows.map((row) => [row.modelId, row]));
  refuseContradiction(new Map(rows.map((row) => [row.modelId, readable(row.policy)])), model, policy);
  const version = (stored.get(model)?.version ?? 0) + 1;
  const createdBy = isUuid(actor) ? actor : null;
  const json = JSON.parse(JSON.stringify(policy));
  await tx.policy.create({ data: { workspaceId, modelId: model, version, policy: json, createdBy } });
  return version;
}

/** A name that the catalogue does not hold would do nothing in silence. */
async function refuseUnknown(tx: Tx, model: string, policy: Policy): Promise<void> {
  const { order = [], only = [], ignore = [], weights = {}, fallbackModels = [] } = policy;
  const providers = [...new Set([...order, ...only, ...ignore, ...Object.keys(weights)])];
  const named = [...fallbackModels, ...Object.values(policy.aliases ?? {}).flat()];
  const models = [...new Set(model === '' ? named : [model, ...named])];
  const known = await tx.provider.findMany({ where: { id: { in: providers } }, select: { id: true } });
  const found = await tx.model.findMany({ where: { id: { in: models } }, select: { id: true } });
  const unknown = [
    ...models.filter((id) => !found.some((one) => one.id === id)).map((id) => `model "${id}"`),
    ...providers.filter((id) => !known.some((one) => one.id === id)).map((id) => `provider "${id}"`),
  ];
  if (unknown.length === 0) return;
  const field = unknown[0] === `model "${model}"` ? 'model' : 'policy';
  throw new VerbRefused(
    `there is no ${unknown.join(', no ')}; "gateway catalogue list" has what the catalogue holds`,
    field,
  );
}

/** A call is known by its alias before any model's policy applies, and a slug is never taken for an alias. */
async function refuseUnusedAliases(tx: Tx, model: string, { aliases = {} }: Policy): Promise<void> {
  const names = Object.keys(aliases);
  if (names.length === 0) return;
  if (model !== '') {
    throw new VerbRefused(
      "aliases stand in the workspace's default policy: set them without a model",
      'policy',
    );
  }
  const [slug] = await tx.model.findMany({ where: { id: { in: names } }, select: { id: true }, take: 1 });
  if (slug) {
    throw new VerbRefused(
      `alias "${slug.id}" is the id of a model, which comes first: choose another`,
      'policy',
    );
  }
}

/** Each alone may be sound while a model's policy over the default is not (decisions §12). */
function refuseContradiction(stored: Map<string, Policy>, model: string, policy: Policy): void {
  stored.set(model, policy);
  for (const [name, own] of stored) {
    const both = name === '' ? [] : orderedAndDrawn(mergePolicy(stored.get(''), own));
    if (both.length > 0) {
      throw new VerbRefused(
        `provider "${both.join('", "')}" would be in both order and weights for ${name}, where the model's policy stands over the default: keep it in one of them`,
        'policy',
      );
    }
  }
}

/** What was written past the verbs contradicts nothing; it leaves no offer anyway. */
function readable(stored: unknown): Policy {
  const parsed = policyShape.safeParse(stored);
  return parsed.success ? parsed.data : {};
}
