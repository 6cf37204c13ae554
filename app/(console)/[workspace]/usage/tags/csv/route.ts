import { setTimeout as rest } from 'node:timers/promises';
import type { NextRequest } from 'next/server';
import { csvFile, fileHeaders } from '#lib/console/csv/file';
import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { requireMember } from '#lib/console/member';
import { loadUsageAddress, questionOf } from '#lib/console/usage/address';
import { loadTagUsage } from '#lib/console/usage/tag-parameters';
import { tagUsageFile } from '#lib/console/usage/tag-rows';
import { usageByTag } from '#lib/control/operations/usage/tags';

const rows = 1_000;

/** All values of usage by tag with the same query, as a file. */
export async function GET(request: NextRequest, { params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await requireMember((await params).workspace, 'logs:read');
  const { tag, q, sort } = loadTagUsage(request);
  const question = questionOf(loadUsageAddress(request), Date.now(), workspace.timeZone);
  const actor = await findRouteActor();
  const asked = Object.entries({ ...question.span, tag, search: q, sort }).filter(
    ([, value]) => value !== null,
  );
  const read = (after?: string) =>
    readForRoute(actor, usageByTag, workspace.slug, {
      ...Object.fromEntries(asked),
      ...(after === undefined ? {} : { after }),
      limit: rows,
    });
  const first = await read();
  if ('refused' in first) return first.refused;
  const more = async (after: string) => {
    const page = await read(after);
    if ('refused' in page) throw new Error('the rest of the usage could not be read');
    return page.value;
  };
  const parts = { ...tagUsageFile(tag), first: first.value, more, rest: (ms: number) => rest(ms) };
  const name = `usage-${tag ?? 'end-users'}-${workspace.slug}-${first.value.from.slice(0, 10)}.csv`;
  return new Response(csvFile(parts), { headers: fileHeaders(name) });
}
