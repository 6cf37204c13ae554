import type { PlannedCall } from '#lib/gateway/call/call';
import { createReading, type Reading, sealedReading } from '#lib/metering/create-meter';
import { codingOf } from '#lib/upstream/decode';
import type { Exchange } from '#lib/upstream/exchange';
import { headerText } from '#lib/upstream/headers';

/**
 * How the answer of an attempt is read, once its headers are here; null: nobody reads it, because it is no 2xx, or a
 * file. A coding that cannot be undone here leaves only its bytes to count.
 */
export function readingOf(
  { family, ask, operation }: PlannedCall,
  { status, headers }: Exchange,
): Reading | null {
  if (status < 200 || status >= 300 || operation.download) return null;
  if (codingOf(headers) !== '') return sealedReading(family, ask);
  return createReading(family, ask, { contentType: headerText(headers, 'content-type') });
}
