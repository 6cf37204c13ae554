import { setTimeout as rest } from 'node:timers/promises';
import type { NextRequest } from 'next/server';
import { csvFile, fileHeaders } from '#lib/console/csv/file';
import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { readLogAddress } from '#lib/console/log/address';
import { standing } from '#lib/console/log/standing';
import { findMember } from '#lib/console/member';
import { wallDay } from '#lib/console/show/time';
import { exportContent } from '#lib/control/operations/content/export';

interface ExportRoute {
  params: Promise<{ workspace: string }>;
}

/** Kept conversations of the calls that the log page with the same query shows, as JSONL in the chat format. */
export async function GET(request: NextRequest, { params }: ExportRoute): Promise<Response> {
  const site = request.headers.get('sec-fetch-site') ?? 'none';
  // It leaves a row in the audit log, which no other site may cause.
  if (site !== 'same-origin' && site !== 'none')
    return new Response('Open this from the log.\n', { status: 403 });
  const { workspace: named } = await params;
  const { slug, timeZone } = (await findMember(named))?.workspace ?? { slug: named, timeZone: 'UTC' };
  const query = Object.fromEntries(request.nextUrl.searchParams);
  const { input, faults } = readLogAddress({ ...query, after: undefined, sort: undefined }, timeZone);
  if (faults.length > 0) return new Response(`${faults.join('; ')}.\n`, { status: 400 });
  const search = standing(input, Date.now());
  const actor = await findRouteActor();
  const read = async (after?: string) => {
    const page = await readForRoute(actor, exportContent, slug, {
      ...search,
      ...(after === undefined ? {} : { after }),
    });
    return 'refused' in page ? page : { data: page.value.lines, next: page.value.next };
  };
  const first = await read();
  if ('refused' in first) return first.refused;
  const more = async (after: string) => {
    const page = await read(after);
    if ('refused' in page) throw new Error('the rest of the content could not be read');
    return page;
  };
  const line = (text: string) => `${text}\n`;
  const name = `content-${slug}-${wallDay(Date.now(), timeZone)}.jsonl`;
  return new Response(csvFile({ head: '', line, first, more, rest: (ms) => rest(ms) }), {
    headers: { ...fileHeaders(name), 'content-type': 'application/jsonl; charset=utf-8' },
  });
}
