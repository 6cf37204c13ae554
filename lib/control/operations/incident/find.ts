import { z } from 'zod';
import { impacts } from '#lib/control/operations/status/figures';
import type { Store } from '#lib/control/operations/store';

export const incidentStates = ['investigating', 'identified', 'monitoring', 'resolved'] as const;

export const incident = z.object({
  id: z.uuid(),
  title: z.string(),
  impact: z.enum(impacts),
  affects: z.array(z.string()).describe('Ids of providers; "gateway" means the gateway itself.'),
  state: z.enum(incidentStates),
  startedAt: z.iso.datetime(),
  resolvedAt: z.iso.datetime().nullable(),
  updates: z
    .array(z.object({ at: z.iso.datetime(), state: z.enum(incidentStates), text: z.string() }))
    .describe('Newest first.'),
});
export type ShownIncident = z.output<typeof incident>;

/** Maximum on the status page. */
const mostShown = 50;

const columns = `i.id::text AS id, i.title, i.impact, i.affects, i.state, i.started_at AS "startedAt",
  i.resolved_at AS "resolvedAt", (SELECT coalesce(json_agg(json_build_object('at', u.at, 'state', u.state, 'text', u.text)
    ORDER BY u.id DESC), '[]') FROM incident_update u WHERE u.incident_id = i.id) AS updates`;

interface StoredIncident extends Omit<ShownIncident, 'startedAt' | 'resolvedAt'> {
  readonly startedAt: Date;
  readonly resolvedAt: Date | null;
}

/** Open incidents, and those that began or ended since. */
export async function recentIncidents(store: Pick<Store, 'query'>, since: Date): Promise<ShownIncident[]> {
  const rows = await store.query<StoredIncident>(
    `SELECT ${columns} FROM incident i
     WHERE i.resolved_at IS NULL OR i.resolved_at >= $1::timestamptz OR i.started_at >= $1::timestamptz
     ORDER BY i.resolved_at IS NULL DESC, i.started_at DESC, i.id DESC LIMIT ${mostShown}`,
    [since],
  );
  return rows.map(shown);
}

/** Newest first. @param after id and time of the last one of the previous page. */
export async function pageOfIncidents(
  store: Pick<Store, 'query'>,
  after: { readonly at: Date; readonly id: string } | null,
  limit: number,
): Promise<ShownIncident[]> {
  const place = after ? 'WHERE (i.started_at, i.id) < ($2::timestamptz, $3::uuid)' : '';
  const rows = await store.query<StoredIncident>(
    `SELECT ${columns} FROM incident i ${place} ORDER BY i.started_at DESC, i.id DESC LIMIT $1`,
    after ? [limit, after.at, after.id] : [limit],
  );
  return rows.map(shown);
}

function shown({ startedAt, resolvedAt, updates, ...row }: StoredIncident): ShownIncident {
  return {
    ...row,
    startedAt: startedAt.toISOString(),
    resolvedAt: resolvedAt?.toISOString() ?? null,
    updates: updates.map(({ at, state, text }) => ({ at: new Date(at).toISOString(), state, text })),
  };
}
