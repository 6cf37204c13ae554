import type { NextRequest } from 'next/server';
import { readListUrl } from '#lib/console/list-url';
import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { findMember } from '#lib/console/member';
import { wallDay } from '#lib/console/show/time';
import { auditCsvHead, auditCsvLine } from '#lib/console/team/audit-rows';
import { fieldsOf } from '#lib/control/operations/field/paging';
import { listActors } from '#lib/control/operations/trail/actors';
import { auditFilters, listAudit } from '#lib/control/operations/trail/operations';

const rows = 500;

/** All pages of the lines that the audit page with the same query shows, as a file. */
export async function GET(request: NextRequest, { params }: { params: Promise<{ workspace: string }> }) {
  const { workspace: named } = await params;
  const { slug, timeZone } = (await findMember(named))?.workspace ?? { slug: named, timeZone: 'UTC' };
  const query = Object.fromEntries(request.nextUrl.searchParams);
  const { input, faults } = readListUrl(fieldsOf(auditFilters), query, timeZone);
  if (faults.length > 0) return new Response(`${faults.join('; ')}.\n`, { status: 400 });
  const actor = await findRouteActor();
  const read = (after?: string) =>
    readForRoute(actor, listAudit, slug, { ...input, ...(after ? { after } : {}), limit: rows });
  const [first, known] = [await read(), await readForRoute(actor, listActors, slug, {})];
  if ('refused' in first) return first.refused;
  if ('refused' in known) return known.refused;
  const actors = new Map(known.value.data.map((one) => [one.actor, one.name]));
  const encoder = new TextEncoder();
  let page: (typeof first)['value'] | null = first.value;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(auditCsvHead)),
    async pull(controller) {
      if (page === null) return controller.close();
      const lines = page.data.map((row) => auditCsvLine(row, { timeZone, actors }));
      controller.enqueue(encoder.encode(lines.join('')));
      const next: Awaited<ReturnType<typeof read>> | null = page.next ? await read(page.next) : null;
      // A truncated file must not look complete.
      if (next && 'refused' in next) throw new Error('the rest of the audit log could not be read');
      page = next?.value ?? null;
    },
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="audit-${slug}-${wallDay(Date.now(), timeZone)}.csv"`,
      'cache-control': 'private, no-store',
    },
  });
}
