import { csvFile, type FilePage } from '#lib/console/csv/file';
import { logCsvHead, logCsvLine } from '#lib/console/log/lines';
import type { CallDetail } from '#lib/control/operations/call/detail';

export type LogPage = FilePage<CallDetail>;

/**
 * The calls of a search as a file.
 * @param first its first page. @param more the page at a cursor. @param rest waits this many ms.
 */
export function logFile(
  first: LogPage,
  zone: string,
  more: (after: string) => Promise<LogPage>,
  rest: (ms: number) => Promise<void>,
): ReadableStream<Uint8Array> {
  return csvFile({ head: logCsvHead, line: (call) => logCsvLine(call, zone), first, more, rest });
}
