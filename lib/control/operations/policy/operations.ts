import { z } from 'zod';
import { change, read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { count, document } from '#lib/control/operations/field/kinds';
import { noModel, readPolicies } from '#lib/control/operations/policy/check';
import { discardDraft, openPolicy, publishPolicy, saveDraft } from '#lib/control/operations/policy/drafts';
import { listPolicyNames } from '#lib/control/operations/policy/names';
import {
  modelField as model,
  nameOf,
  placeOf,
  policies,
  storedPolicy,
} from '#lib/control/operations/policy/places';
import { reviewPolicy } from '#lib/control/operations/policy/review';
import { listVersions, readVersions, versionOf } from '#lib/control/operations/policy/versions';
import { lockPolicies, writePolicy } from '#lib/control/operations/policy/write';
import { conflict } from '#lib/control/operations/refusal';
import { parsePolicy, policyShape } from '#lib/core/schemas/policy';

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
    await lockPolicies(context);
    const stored = await readPolicies(context);
    const before = stored.get(place)?.policy ?? {};
    context.expect({ policy: before });
    const { version, ...rest } = await writePolicy(context, stored, place, input.policy);
    return { ...rest, before: { policy: before }, detail: { model: place, version }, result: { version } };
  },
});

export const rollBackPolicy = change({
  name: 'policy.rollback',
  summary:
    'Takes the last change of a policy back, or puts an earlier version in force again, as a new version; a second roll-back undoes the first.',
  reach: 'workspace',
  permission: 'policies:write',
  fields: {
    model,
    to: optional(
      count(
        {
          label: 'Version',
          help: 'The version that comes back; the one before without it.',
          unit: 'version',
        },
        { min: 1, max: 2_147_483_647 },
      ),
    ),
  },
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
    await lockPolicies(context);
    const [newest, before] = await readVersions(context, place, null, 2);
    const older = input.to === undefined ? before : await versionOf(context, place, input.to);
    if (!newest) throw conflict(`${nameOf(place)} was never set, so there is nothing to roll back`, 'model');
    context.expect({ policy: newest.policy });
    const policy = older ? parsePolicy(older.policy) : {};
    const { version, ...rest } = await writePolicy(context, await readPolicies(context), place, policy);
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

export const policyOperations = [
  setPolicy,
  publishPolicy,
  rollBackPolicy,
  showPolicy,
  showPolicyList,
  listVersions,
  openPolicy,
  saveDraft,
  discardDraft,
  reviewPolicy,
  listPolicyNames,
];
