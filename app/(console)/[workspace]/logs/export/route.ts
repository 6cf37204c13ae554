import { setTimeout as rest } from 'node:timers/promises';
import type { NextRequest } from 'next/server';
import { fileHeaders } from '#lib/console/csv/file';
import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { readLogAddress } from '#lib/console/log/address';
import { logFile } from '#lib/console/log/file';
import { standing } from '#lib/console/log/standing';
import { findMember } from '#lib/console/member';
import { wallDay } from '#lib/console/show/time';
import { listCalls } from '#lib/control/operations/call/operations';

interface ExportRoute {
  params: Promise<{ workspace: string }>;
}

const rows = 500;

/** All pages of the calls that the log page with the same query shows, as a file. */
export async function GET(request: NextRequest, { params }: ExportRoute): Promise<Response> {
  const { workspace: named } = await params;
  const { slug, timeZone } = (await findMember(named))?.workspace ?? { slug: named, timeZone: 'UTC' };
  const query = Object.fromEntries(request.nextUrl.searchParams);
  const { input, faults } = readLogAddress({ ...query, after: undefined }, timeZone);
  if (faults.length > 0) return new Response(`${faults.join('; ')}.\n`, { status: 400 });
  const search = standing(input, Date.now());
  const actor = await findRouteActor();
  const read = (after?: string) =>
    readForRoute(actor, listCalls, slug, {
      ...search,
      ...(after === undefined ? {} : { after }),
      limit: rows,
    });
  const first = await read();
  if ('refused' in first) return first.refused;
  const more = async (after: string) => {
    const page = await read(after);
    if ('refused' in page) throw new Error('the rest of the calls could not be read');
    return page.value;
  };
  return new Response(
    logFile(first.value, timeZone, more, (ms) => rest(ms)),
    { headers: fileHeaders(`calls-${slug}-${wallDay(Date.now(), timeZone)}.csv`) },
  );
}
