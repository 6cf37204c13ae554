import { Refused, refusal, unaccountable } from '#lib/core/errors';
import type { FamilyCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';

const USUAL = 20;
const MOST = 100;

/**
 * One page of a workspace's jobs of the operation's family, as its SDKs page: `limit` (0 to 100, 20 when
 * silent), `order` (`desc` when silent), `after` (the last id of the page before).
 * @throws Refused `invalid_body` for a query that names none of these; `local_quota_not_configured`.
 */
export async function listJobs(runtime: Runtime, call: FamilyCall): Promise<object> {
  const kind = call.family.jobs?.kind;
  if (!kind) throw new Error('an operation without a resource lists the jobs of its family');
  const query = new URLSearchParams(call.query);
  const page = { after: query.get('after') || null, limit: limitIn(query), order: orderIn(query) };
  try {
    if (!runtime.jobs) throw new Error('this process keeps no jobs');
    const { views, more } = await runtime.jobs.list(call.snapshot.workspace.id, kind, page);
    return {
      object: 'list',
      data: views,
      first_id: views[0]?.id ?? null,
      last_id: views.at(-1)?.id ?? null,
      has_more: more,
    };
  } catch (error) {
    runtime.report(error, call.id);
    throw new Refused(unaccountable('cannot list jobs now'));
  }
}

function limitIn(query: URLSearchParams): number {
  const given = query.get('limit') ?? '';
  if (given === '') return USUAL;
  const limit = /^\d{1,3}$/.test(given) ? Number(given) : Number.NaN;
  if (limit <= MOST) return limit;
  throw new Refused(refusal('invalid_body', `The query's limit must be a whole number from 0 to ${MOST}.`));
}

function orderIn(query: URLSearchParams): 'asc' | 'desc' {
  const given = query.get('order') ?? '';
  if (given === '' || given === 'desc' || given === 'asc') return given === 'asc' ? 'asc' : 'desc';
  throw new Refused(refusal('invalid_body', 'The query\'s order must be "asc" or "desc".'));
}
