import type { NextRequest } from 'next/server';
import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { readLogAddress } from '#lib/console/log/address';
import { findMember } from '#lib/console/member';
import { callRowOf } from '#lib/console/show/call-rows';
import { listCalls } from '#lib/control/operations/call/operations';

interface TailRoute {
  params: Promise<{ workspace: string }>;
}

const mostRows = 200;
/** Charges are posted concurrently: one that started earlier may become visible later. */
const overlapMs = 10_000;

/**
 * The calls that have ended since the page was rendered, including some that it already has. `since` is the
 * `now` of the previous answer.
 */
export async function GET(request: NextRequest, { params }: TailRoute): Promise<Response> {
  const { workspace: named } = await params;
  const { slug, timeZone } = (await findMember(named))?.workspace ?? { slug: named, timeZone: 'UTC' };
  const { since, ...query } = Object.fromEntries(request.nextUrl.searchParams);
  const sinceMs = Date.parse(since ?? '');
  if (Number.isNaN(sinceMs)) return Response.json({ message: 'since is a time' }, { status: 400 });
  const { input } = readLogAddress({ ...query, after: undefined }, timeZone);
  const nowMs = Date.now();
  // Clamped to the epoch, because no call is older. The operation refuses other impossible dates.
  const settledAfter = new Date(Math.max(0, sinceMs - overlapMs)).toISOString();
  const told = await readForRoute(await findRouteActor(), listCalls, slug, {
    ...input,
    settledAfter,
    limit: mostRows,
  });
  if ('refused' in told) return told.refused;
  const place = { workspace: slug, timeZone, nowMs };
  const rows = told.value.data.map((call) => callRowOf(call, place));
  return Response.json({ rows, now: new Date(nowMs).toISOString() });
}
