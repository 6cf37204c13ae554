import type { z } from 'zod';
import { type CsvCell, csvLine } from '#lib/console/csv/line';
import { labelOf } from '#lib/console/usage/groups';
import type { Grouping } from '#lib/console/usage/parameters';
import type { usageRows } from '#lib/control/operations/usage/rows';
import { isoInZone } from '#lib/core/charts/zone';

type UsageRows = z.output<typeof usageRows>;
type UsageRow = UsageRows['rows'][number];

/** Columns of a usage file; their names must not change. */
const columns: readonly (readonly [name: string, cell: (row: UsageRow) => CsvCell])[] = [
  ['calls', (row) => row.calls],
  ['errors', (row) => row.errors],
  ['refused', (row) => row.refused],
  ['input_tokens', (row) => row.inputTokens],
  ['cached_input_tokens', (row) => row.cachedTokens],
  ['cache_write_5m_tokens', (row) => row.cacheWrite5mTokens],
  ['cache_write_1h_tokens', (row) => row.cacheWrite1hTokens],
  ['output_tokens', (row) => row.outputTokens],
  ['reasoning_tokens', (row) => row.reasoningTokens],
  ['images', (row) => row.images],
  ['video_seconds', (row) => row.videoSeconds],
  ['web_searches', (row) => row.webSearches],
  ['characters', (row) => row.characters],
  ['audio_ms', (row) => row.audioMs],
  ['latency_p50_ms', (row) => row.latencyMs?.p50 ?? null],
  ['latency_p95_ms', (row) => row.latencyMs?.p95 ?? null],
  ['first_byte_p50_ms', (row) => row.firstByteMs?.p50 ?? null],
  ['first_byte_p95_ms', (row) => row.firstByteMs?.p95 ?? null],
  ['cost_usd', (row) => row.cost],
  ['rated_calls', (row) => row.rated],
  ['good_calls', (row) => row.good],
  ['own_key_list_price_usd', (row) => row.ownKeyListPrice],
  ['repeated_calls', (row) => row.repeated],
  ['cache_hits', (row) => row.cacheHits],
  ['saved_usd', (row) => row.saved],
];

function named(by: UsageRows['by']): boolean {
  return by === 'key' || by === 'member';
}

/** A usage file, line by line: times in the workspace's zone (with offset) and in UTC. */
export function* usageCsv({ rows, timeZone, by }: UsageRows): Generator<string> {
  const group: Grouping = by ?? 'none';
  yield csvLine([
    ...['start', 'start_utc', 'end', 'end_utc'],
    ...(by === null ? [] : named(by) ? [by, `${by}_name`] : [by]),
    ...columns.map(([name]) => name),
  ]);
  for (const row of rows) {
    const times = [row.start, row.end].flatMap((at) => [isoInZone(Date.parse(at), timeZone), at]);
    const names = named(by) ? [row.value, labelOf(group, row.value, row.name)] : [row.value];
    yield csvLine([...times, ...(by === null ? [] : names), ...columns.map(([, cell]) => cell(row))]);
  }
}
