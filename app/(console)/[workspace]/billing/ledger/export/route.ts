import { setTimeout as rest } from 'node:timers/promises';
import type { NextRequest } from 'next/server';
import { ledgerCsvHead, ledgerCsvLine } from '#lib/console/billing/csv-lines';
import { readLedgerAddress } from '#lib/console/billing/ledger-address';
import { csvFile, fileHeaders } from '#lib/console/csv/file';
import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { findMember } from '#lib/console/member';
import { wallDay } from '#lib/console/show/time';
import { listLedger } from '#lib/control/operations/ledger/operations';
import { knownZone } from '#lib/core/charts/zone';

interface ExportRoute {
  params: Promise<{ workspace: string }>;
}

const rows = 500;

/** All pages of the lines that the ledger page with the same query shows, oldest first, as a file. */
export async function GET(request: NextRequest, { params }: ExportRoute): Promise<Response> {
  const { workspace: named } = await params;
  const { slug, timeZone } = (await findMember(named))?.workspace ?? { slug: named, timeZone: 'UTC' };
  const query = Object.fromEntries(request.nextUrl.searchParams);
  const { input, texts, faults } = readLedgerAddress({ ...query, after: undefined }, timeZone);
  if (faults.length > 0) return new Response(`${faults.join('; ')}.\n`, { status: 400 });
  const actor = await findRouteActor();
  const read = (place: { after?: string }) =>
    readForRoute(actor, listLedger, slug, { ...input, ...place, limit: rows });
  const first = await read({});
  if ('refused' in first) return first.refused;
  const more = async (after: string) => {
    const page = await read({ after });
    if ('refused' in page) throw new Error('the rest of the ledger could not be read');
    return page.value;
  };
  const zone = knownZone(timeZone);
  const line = (one: (typeof first.value.data)[number]) => ledgerCsvLine(one, zone);
  const span = texts.month ?? wallDay(Date.now(), timeZone);
  return new Response(csvFile({ head: ledgerCsvHead, line, first: first.value, more, rest }), {
    headers: fileHeaders(`ledger-${slug}-${span}.csv`),
  });
}
