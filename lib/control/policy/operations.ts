import { z } from 'zod';
import { userOf } from '#lib/control/actor';
import { type Context, change, type Done, read } from '#lib/control/declare';
import { optional } from '#lib/control/field/field';
import { document, words } from '#lib/control/field/kinds';
import { checkPolicy, noModel, readPolicies } from '#lib/control/policy/check';
import { conflict, quoted } from '#lib/control/refusal';
import { parsePolicy, policyShape } from '#lib/schemas/policy';
import type { Policy } from '#lib/snapshot/snapshot';

const policies = '/workspaces/{workspace}/policies';
/** As the database keeps it: what the operator wrote by hand may be no policy. */
const storedPolicy = z.record(z.string(), z.unknown());

const model = optional(
  words(
    {
      label: 'Model',
      help: 'The model that it is for; "default", or none, is the policy of the workspace.',
      placeholder: 'ID',
      example: 'default',
    },
    200,
  ),
);

/** Which policy: "" is the workspace's default. */
const placeOf = (given: string | undefined) => (given === undefined || given === 'default' ? '' : given);
const nameOf = (place: string) => (place === '' ? 'the default policy' : `the policy for ${quoted(place)}`);

export const setPolicy = change({
  name: 'policy.set',
  summary: 'Puts a routing policy in force, for a workspace or for one model in it; older versions are kept.',
  reach: 'workspace',
  permission: 'policies:write',
  fields: {
    model,
    policy: document(
      {
        label: 'Policy',
        help: 'The whole policy; of one model, its keys replace those of the default.',
        flag: 'file',
        placeholder: 'FILE',
        example: { sort: 'price', maxAttempts: 2 },
      },
      policyShape,
    ),
  },
  output: z.object({ version: z.int() }),
  http: [{ method: 'PUT', path: `${policies}/{model}`, body: 'policy' }],
  line: { arguments: ['workspace'] },
  text: ({ version }) => `it is in force now, as version ${version}`,
  run: async (context, input) => {
    const place = placeOf(input.model);
    await lock(context);
    const stored = await readPolicies(context);
    const before = stored.get(place)?.policy ?? {};
    context.expect({ policy: before });
    const { version, ...rest } = await write(context, stored, place, input.policy);
    return { ...rest, before: { policy: before }, detail: { model: place, version }, result: { version } };
  },
});

export const rollBackPolicy = change({
  name: 'policy.rollback',
  summary: 'Takes the last change of a policy back, as a new version; a second roll-back undoes the first.',
  reach: 'workspace',
  permission: 'policies:write',
  fields: { model },
  output: z.object({
    version: z.int(),
    restored: z.int().nullable().meta({ description: 'The version whose policy it has again; null: none.' }),
    policy: storedPolicy,
  }),
  http: [{ method: 'POST', path: `${policies}/{model}/rollback` }],
  line: { arguments: ['workspace'] },
  text: ({ version, restored, policy }) => {
    const like = restored === null ? 'empty, as before its first' : `as version ${restored} was`;
    return `it is now version ${version}, ${like}: ${JSON.stringify(policy)}`;
  },
  run: async (context, input) => {
    const place = placeOf(input.model);
    const { store, scope } = context;
    await lock(context);
    const [newest, older] = await store.prisma.policy.findMany({
      where: { workspaceId: scope.workspaceId, modelId: place },
      orderBy: { version: 'desc' },
      take: 2,
    });
    if (!newest) throw conflict(`${nameOf(place)} was never set, so there is nothing to roll back`, 'model');
    context.expect({ policy: newest.policy });
    const policy = older ? parsePolicy(older.policy) : {};
    const { version, ...rest } = await write(context, await readPolicies(context), place, policy);
    const restored = older?.version ?? null;
    return {
      ...rest,
      before: { policy: newest.policy },
      detail: { model: place, version, restored },
      result: { version, restored, policy: { ...policy } },
    };
  },
});

const showPolicy = read({
  name: 'policy.get',
  summary: 'The policy of a workspace, or of one model in it; empty when it was never set.',
  reach: 'workspace',
  permission: 'policies:read',
  fields: { model },
  output: storedPolicy,
  state: (policy) => ({ policy }),
  http: [{ method: 'GET', path: `${policies}/{model}` }],
  line: null,
  run: async (context, input) => {
    const place = placeOf(input.model);
    const found = (await readPolicies(context)).get(place);
    if (found) return storedPolicy.parse(found.policy);
    const known = place === '' || (await context.store.prisma.model.findUnique({ where: { id: place } }));
    if (!known) throw noModel(place);
    return {};
  },
});

export const showPolicyList = read({
  name: 'policy.show',
  summary: 'All policies of a workspace that are in force, with their versions.',
  reach: 'workspace',
  permission: 'policies:read',
  fields: {},
  output: z.object({
    default: storedPolicy,
    models: z.record(z.string(), storedPolicy),
    versions: z.record(z.string(), z.int()).meta({ description: 'By model; the default under "".' }),
  }),
  http: [{ method: 'GET', path: policies }],
  line: { arguments: ['workspace'] },
  text: ({ default: own, models, versions }) => {
    const all = [...(versions[''] === undefined ? [] : [['', own] as const]), ...Object.entries(models)];
    const lines = all.map(
      ([name, policy]) => `${name || 'default'} (version ${versions[name]}): ${JSON.stringify(policy)}`,
    );
    return lines.join('\n') || 'no policy was set: offers are tried in catalogue order';
  },
  run: async (context) => {
    const stored = [...(await readPolicies(context))];
    const shown = stored.map(([name, { policy }]) => [name, storedPolicy.parse(policy)] as const);
    return {
      default: shown.find(([name]) => name === '')?.[1] ?? {},
      models: Object.fromEntries(shown.filter(([name]) => name !== '')),
      versions: Object.fromEntries(stored.map(([name, { version }]) => [name, version])),
    };
  },
});

export const policyOperations = [setPolicy, rollBackPolicy, showPolicy, showPolicyList];

/** The lock on the workspace makes version numbers of one policy follow each other. */
async function lock({ store, scope }: Context<'workspace'>): Promise<void> {
  await store.query('SELECT 1 AS one FROM workspace WHERE id = $1::uuid FOR NO KEY UPDATE', [
    scope.workspaceId,
  ]);
}

/** Adds a checked policy as the newest version. */
async function write(
  context: Context<'workspace'>,
  stored: Awaited<ReturnType<typeof readPolicies>>,
  place: string,
  policy: Policy,
): Promise<Omit<Done<unknown>, 'result' | 'before'> & { version: number }> {
  const { store, scope, actor } = context;
  const { workspaceId } = scope;
  await checkPolicy(store, stored, place, policy);
  const version = (stored.get(place)?.version ?? 0) + 1;
  const json = JSON.parse(JSON.stringify(policy));
  const createdBy = userOf(actor);
  await store.prisma.policy.create({
    data: { workspaceId, modelId: place, version, policy: json, createdBy },
  });
  return {
    version,
    subject: workspaceId,
    workspaceId,
    after: { policy: json },
    changes: [{ kind: 'policy', subject: workspaceId }],
  };
}
