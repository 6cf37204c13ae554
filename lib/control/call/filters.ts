import { optional } from '#lib/control/field/field';
import { id, isUuid, pattern, time, words } from '#lib/control/field/kinds';
import { filter } from '#lib/control/field/paging';
import { badInput } from '#lib/control/refusal';
import { idFloor } from '#lib/ids';
import { upstreamRequestIdAt } from '#lib/settlement/record/stored-attempts';

const more = { title: 'More filters', help: '' };

/**
 * What the call log may be narrowed by. The command line, `/calls`, the page of the log and its filter bar
 * take them from here. Times are ranges of ids (UUIDv7), as the partitions of the log are.
 */
export const callFilters = {
  id: filter({
    field: optional(
      pattern(
        { label: 'Request id', help: 'The whole of it, or its first characters.', example: '019ab3f0' },
        /^[0-9a-f-]{1,36}$/i,
        'write the first characters of a request id: digits, a to f and dashes',
      ),
    ),
    parameter: (given) => rangeOfIds(given),
    sql: (range) => `c.id >= (${range}::uuid[])[1] AND c.id <= (${range}::uuid[])[2]`,
  }),
  status: filter({
    field: optional(
      pattern(
        {
          label: 'Status',
          help: 'An HTTP status, or a class of them like 4xx.',
          placeholder: 'STATUS',
          example: '4xx',
        },
        /^[1-5](\d\d|xx)$/,
        'write an HTTP status like 429, or a class of them like 4xx',
      ),
    ),
    parameter: (given) =>
      given.endsWith('xx') ? [Number(given[0]) * 100, Number(given[0]) * 100 + 99] : [given, given],
    sql: (range) => `c.status BETWEEN (${range}::int[])[1] AND (${range}::int[])[2]`,
  }),
  model: filter({
    field: optional(
      words({ label: 'Model', help: 'The requested or the answering one.', example: 'openai/gpt-4.1' }),
    ),
    sql: (model) => `c.requested_model = ${model} OR c.answering_model = ${model}`,
  }),
  key: filter({
    field: optional(id({ label: 'Key', help: 'The id of an API key.' })),
    parameter: (given) => (isUuid(given) ? given : null),
    sql: (key) => `c.key_id = ${key}::uuid`,
  }),
  provider: filter({
    field: optional(
      words({ label: 'Provider', help: 'The one that answered.', group: more, example: 'openai' }),
    ),
    sql: (provider) => `c.provider = ${provider}`,
  }),
  errorCode: filter({
    field: optional(
      words({
        label: 'Error code',
        help: 'As the answer carried it.',
        group: more,
        example: 'workspace_rpm_exceeded',
      }),
    ),
    sql: (code) => `c.error_code = ${code}`,
  }),
  upstreamRequestId: filter({
    field: optional(
      words({
        label: 'Upstream request id',
        help: 'The provider’s id of an attempt. Searches one day: the last 24 hours, or the one that begins at "from" or ends at "to".',
        group: more,
        example: 'req_011CSHoEeqs5C35K2UUqR7Fy',
      }),
    ),
    // Plain text stands in the JSON as it is: looking for it first spares parsing most of the rows.
    sql: (id) =>
      `(strpos(c.attempts::text, ${id}) > 0 OR ${id} !~ '^[ !#-\\[\\]-~]*$')
        AND EXISTS (SELECT FROM json_array_elements(c.attempts) AS a WHERE a->>${upstreamRequestIdAt} = ${id})`,
  }),
  from: filter({
    field: optional(
      time({ label: 'From', help: 'The first moment.', group: more, example: '2026-11-01T00:00:00Z' }),
    ),
    parameter: (at) => idFloor(at.getTime()),
    sql: (lowest) => `c.id >= ${lowest}::uuid`,
  }),
  to: filter({
    field: optional(
      time({ label: 'To', help: 'The first moment behind them.', group: more, example: '2026-12-01' }),
    ),
    parameter: (at) => idFloor(at.getTime()),
    sql: (lowest) => `c.id < ${lowest}::uuid`,
  }),
};

const dayMs = 24 * 3_600_000;

interface Span {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/**
 * The span of a search by upstream request id, for which there is no index: a day at most, the last one where
 * none is named. Other searches keep theirs.
 * @param nowMs ms since the epoch.
 * @throws ControlRefused bad_input for a longer one.
 */
export function searched<Given extends Span & { readonly upstreamRequestId?: string | undefined }>(
  given: Given,
  nowMs: number,
): Given {
  const { from, to, upstreamRequestId } = given;
  if (upstreamRequestId === undefined) return given;
  if (from && to) {
    if (to.getTime() - from.getTime() <= dayMs) return given;
    throw badInput(
      'to',
      'a search by upstream request id covers 24 hours: write a time that is nearer to "from"',
    );
  }
  if (from) return { ...given, to: new Date(from.getTime() + dayMs) };
  return { ...given, from: new Date((to?.getTime() ?? nowMs) - dayMs) };
}

/** The lowest and the highest id that begin so. */
function rangeOfIds(start: string): [string, string] {
  const hex = start.toLowerCase().replaceAll('-', '').slice(0, 32);
  return [dashed(hex.padEnd(32, '0')), dashed(hex.padEnd(32, 'f'))];
}

function dashed(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
