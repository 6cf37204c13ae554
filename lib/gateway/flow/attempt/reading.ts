import { createReading, type Reading, sealedReading } from '#lib/core/metering/create-meter';
import type { PlannedCall } from '#lib/gateway/flow/call/call';
import { codingOf } from '#lib/gateway/upstream/decode';
import type { Exchange } from '#lib/gateway/upstream/exchange';
import { headerText } from '#lib/gateway/upstream/headers';

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
