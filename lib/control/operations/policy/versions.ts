import { z } from 'zod';
import type { Context } from '#lib/control/operations/declare';
import { read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { count } from '#lib/control/operations/field/kinds';
import { limitOf, pagingBy } from '#lib/control/operations/field/paging';
import {
  author,
  modelField,
  nameOf,
  placeOf,
  policies,
  storedPolicy,
} from '#lib/control/operations/policy/places';
import { notFound } from '#lib/control/operations/refusal';
import { withTranslate } from '#lib/core/schemas/policy';
import { changesOf } from '#lib/gateway/routing/pure/policy/difference';

const shownVersion = z.object({
  version: z.int(),
  at: z.iso.datetime(),
  by: author,
  changes: z.array(z.string()).describe('Changes from the previous version, as text.'),
  policy: storedPolicy,
});

export interface VersionRow {
  readonly version: number;
  readonly policy: unknown;
  readonly at: Date;
  readonly by: string | null;
}

/** Versions of one policy with their authors, newest first. @param below versions before this one; null: all. */
export async function readVersions(
  { store, scope }: Pick<Context<'workspace'>, 'store' | 'scope'>,
  place: string,
  below: number | null,
  limit: number,
): Promise<readonly VersionRow[]> {
  const rows = await store.query<VersionRow & { readonly translate: string | null }>(
    `SELECT p.version, p.policy, p.translate, p.created_at AS at, coalesce(u.name, u.email) AS by
     FROM policy p LEFT JOIN "user" u ON u.id = p.created_by
     WHERE p.workspace_id = $1::uuid AND p.model_id = $2 AND ($3::int IS NULL OR p.version < $3::int)
     ORDER BY p.version DESC LIMIT $4::int`,
    [scope.workspaceId, place, below, limit],
  );
  return rows.map(({ translate, ...row }) => ({ ...row, policy: withTranslate(row.policy, translate) }));
}

/** @throws ControlRefused not_found if there is no such version. */
export async function versionOf(
  context: Pick<Context<'workspace'>, 'store' | 'scope'>,
  place: string,
  version: number,
): Promise<VersionRow> {
  const [found] = await readVersions(context, place, version + 1, 1);
  if (found?.version === version) return found;
  throw notFound(
    `there is no version ${version} of ${nameOf(place)}; "gateway policy history" lists them`,
    'to',
  );
}

export const listVersions = read({
  name: 'policy.history',
  summary: 'Lists the versions of a policy, newest first: who published them, when, and what they changed.',
  reach: 'workspace',
  permission: 'policies:read',
  fields: {
    model: modelField,
    limit: pagingBy(20).limit,
    before: optional(
      count(
        { label: 'Before', help: 'Only versions before this one.', unit: 'version', example: 4 },
        { min: 1, max: 2_147_483_647 },
      ),
    ),
  },
  output: z.object({
    data: z.array(shownVersion),
    next: z.int().nullable().describe('Send it as "before" to get older versions; null: there are none.'),
  }),
  http: [{ method: 'GET', path: `${policies}/{model}/versions` }],
  line: { arguments: ['workspace'], columns: ['version', 'at', 'by', 'changes'] },
  run: async (context, { model, limit, before }) => {
    const most = limit === undefined ? 20 : limitOf({ limit });
    // One more than is shown, to compare the last one with.
    const rows = await readVersions(context, placeOf(model), before ?? null, most + 1);
    const data = rows.slice(0, most).map((row, at) => ({
      version: row.version,
      at: row.at.toISOString(),
      by: row.by,
      changes: changesOf(recordOf(rows[at + 1]?.policy), recordOf(row.policy)),
      policy: recordOf(row.policy),
    }));
    return { data, next: rows.length > most ? (data.at(-1)?.version ?? null) : null };
  },
});

function recordOf(policy: unknown): Readonly<Record<string, unknown>> {
  const read = storedPolicy.safeParse(policy);
  return read.success ? read.data : {};
}
