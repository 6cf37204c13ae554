import { z } from 'zod';
import { userOf } from '#lib/control/operations/actor';
import { type Context, change, read } from '#lib/control/operations/declare';
import { document } from '#lib/control/operations/field/kinds';
import { noModel, readPolicies } from '#lib/control/operations/policy/check';
import {
  author,
  baseField,
  modelField,
  nameOf,
  placeOf,
  policies,
  revisionField,
  storedPolicy,
} from '#lib/control/operations/policy/places';
import { readVersions } from '#lib/control/operations/policy/versions';
import { lockPolicies, writePolicy } from '#lib/control/operations/policy/write';
import { conflict } from '#lib/control/operations/refusal';
import { policyShape } from '#lib/core/schemas/policy';

const draftPath = `${policies}/{model}/draft`;
const longestDraft = 200_000;

/** Unfinished policies can be saved too: they are checked when they are published. */
const draftField = document(
  { label: 'Draft', help: 'A policy, finished or not.', example: { sort: 'price' } },
  storedPolicy.refine(
    (draft) => JSON.stringify(draft).length <= longestDraft,
    'a policy may have at most 200000 characters',
  ),
);

interface Draft {
  readonly policy: unknown;
  readonly base: number;
  readonly revision: number;
  readonly at: Date;
  readonly by: string | null;
}

async function findDraft({ store, scope }: Context<'workspace'>, place: string): Promise<Draft | null> {
  const [found] = await store.query<Draft>(
    `SELECT d.policy, d.base_version AS base, d.revision, d.saved_at AS at, coalesce(u.name, u.email) AS by
     FROM policy_draft d LEFT JOIN "user" u ON u.id = d.saved_by
     WHERE d.workspace_id = $1::uuid AND d.model_id = $2`,
    [scope.workspaceId, place],
  );
  return found ?? null;
}

export const openPolicy = read({
  name: 'policy.draft',
  summary: 'Shows a policy for its editor: the version in force, and the saved draft.',
  reach: 'workspace',
  permission: 'policies:read',
  fields: { model: modelField },
  output: z.object({
    version: z.int().describe('Version in force; 0: no policy was set.'),
    policy: storedPolicy,
    publishedAt: z.iso.datetime().nullable(),
    publishedBy: author,
    draft: z
      .object({
        policy: storedPolicy,
        base: z.int().describe('The version that it is based on.'),
        revision: z.int().describe('Counts the saves of this draft.'),
        savedAt: z.iso.datetime(),
        savedBy: author,
      })
      .nullable(),
  }),
  http: [{ method: 'GET', path: draftPath }],
  run: async (context, { model }) => {
    const place = placeOf(model);
    const known = place === '' || (await context.store.prisma.model.findUnique({ where: { id: place } }));
    const [newest] = await readVersions(context, place, null, 1);
    if (!known && !newest) throw noModel(place);
    const draft = await findDraft(context, place);
    return {
      version: newest?.version ?? 0,
      policy: storedPolicy.parse(newest?.policy ?? {}),
      publishedAt: newest?.at.toISOString() ?? null,
      publishedBy: newest?.by ?? null,
      draft: draft && {
        policy: storedPolicy.parse(draft.policy),
        base: draft.base,
        revision: draft.revision,
        savedAt: draft.at.toISOString(),
        savedBy: draft.by,
      },
    };
  },
});

export const saveDraft = change({
  name: 'policy.save',
  summary: 'Saves a draft of a policy, finished or not; it does not route calls until it is published.',
  reach: 'workspace',
  permission: 'policies:write',
  fields: { model: modelField, policy: draftField, base: baseField, revision: revisionField },
  output: z.object({ revision: z.int().describe('Counts the saves of this draft.') }),
  http: [{ method: 'PUT', path: draftPath }],
  run: async (context, { model, policy, base, revision: seen }) => {
    const { store, scope, actor, nowMs } = context;
    const { workspaceId } = scope;
    const place = placeOf(model);
    await lockPolicies(context);
    const before = await findDraft(context, place);
    context.expect({ draft: before?.policy ?? {} });
    refuseStale(place, before, seen);
    const stored = await readPolicies(context);
    const known = place === '' || stored.has(place);
    if (!known && !(await store.prisma.model.findUnique({ where: { id: place } }))) throw noModel(place);
    const revision = (before?.revision ?? 0) + 1;
    const json = JSON.parse(JSON.stringify(policy));
    const data = {
      policy: json,
      baseVersion: base ?? stored.get(place)?.version ?? 0,
      revision,
      savedBy: userOf(actor),
      savedAt: new Date(nowMs),
    };
    await store.prisma.policyDraft.upsert({
      where: { workspaceId_modelId: { workspaceId, modelId: place } },
      create: { workspaceId, modelId: place, ...data },
      update: data,
    });
    return {
      result: { revision },
      subject: workspaceId,
      before: { draft: before?.policy ?? {} },
      after: { draft: json },
      detail: { model: place, revision },
    };
  },
});

export const discardDraft = change({
  name: 'policy.discard',
  summary: 'Discards the draft of a policy; the policy in force is unchanged.',
  reach: 'workspace',
  permission: 'policies:write',
  fields: { model: modelField, revision: revisionField },
  output: z.object({ discarded: z.boolean() }),
  http: [{ method: 'DELETE', path: draftPath }],
  run: async (context, { model, revision }) => {
    const place = placeOf(model);
    const { workspaceId } = context.scope;
    await lockPolicies(context);
    const before = await findDraft(context, place);
    context.expect({ draft: before?.policy ?? {} });
    refuseStale(place, before, revision);
    await context.store.prisma.policyDraft.deleteMany({ where: { workspaceId, modelId: place } });
    return {
      result: { discarded: before !== null },
      subject: workspaceId,
      before: { draft: before?.policy ?? {} },
      after: { draft: {} },
      ...(before ? { detail: { model: place, revision: before.revision } } : {}),
    };
  },
});

export const publishPolicy = change({
  name: 'policy.publish',
  summary: 'Publishes a policy unless it was changed in the meantime, and discards its draft.',
  reach: 'workspace',
  permission: 'policies:write',
  fields: {
    model: modelField,
    policy: document({ label: 'Policy', help: 'The whole policy.', example: { sort: 'price' } }, policyShape),
    base: baseField,
    revision: revisionField,
  },
  output: z.object({ version: z.int() }),
  http: [{ method: 'POST', path: `${policies}/{model}/versions` }],
  run: async (context, { model, policy, base, revision }) => {
    const place = placeOf(model);
    const { workspaceId } = context.scope;
    await lockPolicies(context);
    const stored = await readPolicies(context);
    const before = stored.get(place)?.policy ?? {};
    context.expect({ policy: before });
    const [newest] = await readVersions(context, place, null, 1);
    if (base !== undefined && base !== (newest?.version ?? 0)) {
      const [version, by] = [newest?.version ?? 0, newest?.by ?? 'someone'];
      throw conflict(`${by} has published version ${version} of ${nameOf(place)} meanwhile`, 'base');
    }
    refuseStale(place, await findDraft(context, place), revision);
    const { version, ...rest } = await writePolicy(context, stored, place, policy);
    await context.store.prisma.policyDraft.deleteMany({ where: { workspaceId, modelId: place } });
    return { ...rest, before: { policy: before }, detail: { model: place, version }, result: { version } };
  },
});

/** @throws ControlRefused (conflict) if the draft is not the one that was read. */
function refuseStale(place: string, found: Draft | null, seen: number | undefined): void {
  if (seen === undefined || seen === (found?.revision ?? 0)) return;
  const text = found
    ? `another draft of ${nameOf(place)} was saved meanwhile by ${found.by ?? 'someone'}`
    : `the draft of ${nameOf(place)} was published or discarded meanwhile`;
  throw conflict(text, 'revision');
}
