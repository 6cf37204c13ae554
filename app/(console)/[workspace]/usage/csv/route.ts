import type { NextRequest } from 'next/server';
import { requireMember } from '#lib/console/member';
import { tryForPage } from '#lib/console/operation';
import { loadUsageAddress, questionOf } from '#lib/console/usage/address';
import { usageCsv } from '#lib/console/usage/csv';
import { rowsOfUsage } from '#lib/control/operations/usage/operations';

/** What the usage page with the same query shows, with all groups, as a file. */
export async function GET(request: NextRequest, { params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await requireMember((await params).workspace, 'logs:read');
  const question = questionOf(loadUsageAddress(request), Date.now(), workspace.timeZone);
  const found = await tryForPage(rowsOfUsage, workspace.slug, question.timed);
  if (!found.ok) return new Response(`${found.message}\n`, { status: 400 });
  const lines = usageCsv(found.value);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      for (let at = 0; at < linesAtOnce; at++) {
        const { value, done } = lines.next();
        if (done) return controller.close();
        controller.enqueue(encoder.encode(value));
      }
    },
  });
  const day = found.value.from.slice(0, 10);
  return new Response(body, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="usage-${workspace.slug}-${day}.csv"`,
      'cache-control': 'private, no-store',
    },
  });
}

const linesAtOnce = 200;
