import { logCsvHead, logCsvLine } from '#lib/console/log/lines';
import type { CallDetail } from '#lib/control/call/detail';

/** One page of what is exported, and where the next one starts. */
export interface LogPage {
  readonly data: readonly CallDetail[];
  readonly next: string | null;
}

/**
 * The calls of a search as a file, read page by page as fast as it is taken. Each page is followed by a rest of its own
 * length: the process that writes the file serves calls too.
 * @param first its first page. @param more the page that starts at a place; when it throws, the file breaks off.
 * @param rest waits so many ms.
 */
export function logFile(
  first: LogPage,
  zone: string,
  more: (after: string) => Promise<LogPage>,
  rest: (ms: number) => Promise<void>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let head = logCsvHead;
  let page: LogPage = first;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (head === '' && page.data.length === 0 && page.next !== null) await turn();
        const lines = head + page.data.map((call) => logCsvLine(call, zone)).join('');
        head = '';
        if (lines !== '') controller.enqueue(encoder.encode(lines));
        if (page.next === null) controller.close();
        else await turn();
      },
      cancel() {
        page = { data: [], next: null };
      },
    },
    { highWaterMark: 1 },
  );

  /** A search may look at many calls before it finds one, so a page may be empty and not the last. */
  async function turn(): Promise<void> {
    const { next } = page;
    if (next === null) return;
    const startedMs = performance.now();
    page = await more(next);
    await rest(performance.now() - startedMs);
  }
}
