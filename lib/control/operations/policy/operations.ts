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
  summary: 'Sets the routing policy of a workspace, or of one model in it; older versions are kept.',
  reach: 'workspace',
  permission: 'policies:write',
  fields: {
    model,
    policy: document(
      {
        label: 'Policy',
        help: 'The whole policy. In the policy of a model, keys override those of the default policy.',
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
  text: ({ version }) => `version ${version} is now in force`,
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
    'Undoes the last change of a policy, or restores an earlier version, as a new version; a second rollback undoes the first.',
  reach: 'workspace',
  permission: 'policies:write',
  fields: {
    model,
    to: optional(
      count(
        {
          label: 'Version',
          help: 'The version to restore. Default: the previous one.',
          unit: 'version',
        },
        { min: 1, max: 2_147_483_647 },
      ),
    ),
  },
  output: z.object({
    version: z.int(),
    restored: z.int().nullable().describe('The restored version; null: none, the policy is empty.'),
    policy: storedPolicy,
  }),
  http: [{ method: 'POST', path: `${policies}/{model}/rollback` }],
  line: { arguments: ['workspace'] },
  text: ({ version, restored, policy }) => {
    const like = restored === null ? 'empty, as before the first version' : `the same as version ${restored}`;
    return `version ${version} is now in force, ${like}: ${JSON.stringify(policy)}`;
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
  summary: 'Shows the policy of a workspace, or of one model in it; empty if none was set.',
  reach: 'workspace',
  permission: 'policies:read',
  fields: { model },
  output: storedPolicy,
  state: (policy) => ({ policy }),
  http: [{ method: 'GET', path: `${policies}/{model}` }],
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
  summary: 'Shows all policies in force in a workspace, with their versions.',
  reach: 'workspace',
  permission: 'policies:read',
  output: z.object({
    default: storedPolicy,
    models: z.record(z.string(), storedPolicy),
    versions: z.record(z.string(), z.int()).describe('By model; the default under "".'),
  }),
  http: [{ method: 'GET', path: policies }],
  line: { arguments: ['workspace'] },
  text: ({ default: own, models, versions }) => {
    const all = [...(versions[''] === undefined ? [] : [['', own] as const]), ...Object.entries(models)];
    const lines = all.map(
      ([name, policy]) => `${name || 'default'} (version ${versions[name]}): ${JSON.stringify(policy)}`,
    );
    return lines.join('\n') || 'no policy is set: offers are tried in catalogue order';
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
