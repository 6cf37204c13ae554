import { feedbackFilters } from '#lib/control/operations/call/feedback';
import { figureFilters, more } from '#lib/control/operations/call/figure-filters';
import { tagFilters } from '#lib/control/operations/call/tags';
import { noneCounted, usageFilters } from '#lib/control/operations/call/usage-filters';
import { choice, id, isUuid, pattern, time, toggle, words } from '#lib/control/operations/field/kinds';
import { filter } from '#lib/control/operations/field/paging';
import { familyIds } from '#lib/core/families/ids';
import { upstreamRequestIdAt } from '#lib/gateway/settlement/pure/record/stored-attempts';
import { idFloor } from '#lib/platform/ids';

/** The API families of calls, as the log names them. */
const families = [...familyIds, 'models', 'unknown'] as const;
/** An id may be ahead of its call's time or behind it by as much as the clock was changed meanwhile. */
const slackMs = 60_000;

/**
 * The filters of the call log. The command line, `/calls`, the log page and its filter bar
 * take them from here. Times are ranges of ids (UUIDv7), as the partitions of the log are, cut to the exact time.
 */
export const callFilters = {
  id: filter({
    field: words(
      {
        label: 'Request id',
        help: 'Our id or its first characters; if there is none, the client’s or the provider’s complete id.',
        example: '019ab3f0',
      },
      200,
    ),
    parameter: (given) => rangeOfIds(given),
    sql: (range) => `c.id >= (${range}::uuid[])[1] AND c.id <= (${range}::uuid[])[2]`,
  }),
  status: filter({
    field: pattern(
      {
        label: 'Status',
        help: 'An HTTP status, or a class such as 4xx.',
        placeholder: 'STATUS',
        example: '4xx',
      },
      /^[1-5](\d\d|xx)$/,
      'must be an HTTP status such as 429, or a class such as 4xx',
    ),
    parameter: (given) =>
      given.endsWith('xx') ? [Number(given[0]) * 100, Number(given[0]) * 100 + 99] : [given, given],
    sql: (range) => `c.status BETWEEN (${range}::int[])[1] AND (${range}::int[])[2]`,
  }),
  model: filter({
    field: words({
      label: 'Model',
      help: 'The requested model or the one that answered.',
      example: 'openai/gpt-4.1',
    }),
    sql: (model) => `c.requested_model = ${model} OR c.answering_model = ${model}`,
  }),
  key: filter({
    field: id({ label: 'Key', help: 'Id of an API key.' }),
    parameter: (given) => (isUuid(given) ? given : null),
    sql: (key) => `c.key_id = ${key}::uuid`,
  }),
  provider: filter({
    field: words({
      label: 'Provider',
      help: 'The provider that answered; "none": calls that no provider answered.',
      group: more,
      example: 'openai',
    }),
    sql: (provider) => `c.provider = ${provider} OR (${provider} = '${noneCounted}' AND c.provider IS NULL)`,
  }),
  from: filter({
    field: time({ label: 'From', help: 'Start of the range.', group: more, example: '2026-11-01T00:00:00Z' }),
    parameter: (at) => [idFloor(at.getTime() - slackMs), at.toISOString()],
    sql: (edge) => `c.id >= (${edge}::text[])[1]::uuid AND c.at >= (${edge}::text[])[2]::timestamptz`,
  }),
  to: filter({
    field: time({ label: 'To', help: 'End of the range, exclusive.', group: more, example: '2026-12-01' }),
    parameter: (at) => [idFloor(at.getTime() + slackMs), at.toISOString()],
    sql: (edge) => `c.id < (${edge}::text[])[1]::uuid AND c.at < (${edge}::text[])[2]::timestamptz`,
  }),
  errorCode: filter({
    field: words({
      label: 'Error code',
      help: 'The error code of the answer.',
      group: more,
      example: 'workspace_rpm_exceeded',
    }),
    sql: (code) => `c.error_code = ${code}`,
  }),
  family: filter({
    field: choice(
      { label: 'Protocol', help: 'The protocol that the client used.', group: more, example: 'messages' },
      families,
    ),
    sql: (family) => `c.family = ${family}`,
  }),
  streamed: filter({
    field: toggle({
      label: 'Streamed',
      help: 'Whether the client asked for a stream.',
      group: more,
      example: true,
    }),
    sql: (streamed) => `c.streamed = ${streamed}::boolean`,
  }),
  fellBack: filter({
    field: toggle({
      label: 'Fell back',
      help: 'Whether more than one target was tried.',
      group: more,
      example: true,
    }),
    sql: (fellBack) => `(json_array_length(c.attempts) > 1) = ${fellBack}::boolean`,
  }),
  paidBy: filter({
    field: choice(
      {
        label: 'Paid by',
        help: 'Whose credential answered: "own", an own key of the workspace, or "operator".',
        group: more,
        example: 'own',
      },
      ['own', 'operator'],
    ),
    sql: (by) => `c.provider IS NOT NULL AND ('own_key' = ANY (c.flags)) = (${by} = 'own')`,
  }),
  ...figureFilters,
  clientRequestId: filter({
    field: words(
      {
        label: 'Client request id',
        help: 'The X-Request-Id that the client sent.',
        group: more,
        example: 'order-1042',
      },
      200,
    ),
    sql: (id) => `c.client_request_id = ${id}`,
  }),
  customId: filter({
    field: words(
      {
        label: 'Custom id',
        help: 'The custom_id of a line of a batch; finds the call that created the batch.',
        group: more,
        example: 'line-17',
      },
      256,
    ),
    sql: (id) =>
      `c.id IN (SELECT b.call_id FROM batch_line b WHERE b.workspace_id = c.workspace_id AND b.custom_id = ${id})`,
  }),
  upstreamRequestId: filter({
    field: words({
      label: 'Upstream request id',
      help: 'The provider’s id of an attempt. Searches one day: the last 24 hours, or the day that starts at "from" or ends at "to".',
      group: more,
      example: 'req_011CSHoEeqs5C35K2UUqR7Fy',
    }),
    sql: triedAs,
  }),
  repeated: filter({
    field: choice(
      {
        label: 'Repeated',
        help: 'Whether it was answered with a kept answer: for its Idempotency-Key (repeat), from the cache, either (any) or neither (none).',
        group: more,
        example: 'cache',
      },
      ['repeat', 'cache', 'any', 'none'],
    ),
    sql: (
      word,
    ) => `CASE ${word} WHEN 'any' THEN ${repeatedAs('TRUE')} WHEN 'none' THEN NOT ${repeatedAs('TRUE')}
      ELSE ${repeatedAs(`r.kind = ${word}`)} END`,
  }),
  ...feedbackFilters,
  ...tagFilters,
  ...usageFilters,
};

/** A request id that is not ours: the client's own, or the provider's of any attempt. */
export const foreignId = filter({
  field: callFilters.id.field,
  sql: (id) => `c.client_request_id = ${id} OR (${triedAs(id)})`,
});

/** Calls of which something was kept. */
export const hasContent = filter({
  field: toggle({ label: 'Content', help: 'Whether what it was asked and answered was kept.' }),
  sql: (kept) => `EXISTS (SELECT FROM call_content k WHERE k.call_id = c.id) = ${kept}::boolean`,
});

/** Whether it was answered with a kept answer. */
function repeatedAs(condition: string): string {
  return `EXISTS (SELECT FROM call_repeat r WHERE r.call_id = c.id AND ${condition})`;
}

/** Whether an attempt has this id at its provider. */
function triedAs(id: string): string {
  // Plain text is unescaped in the JSON: looking for it first avoids parsing most rows.
  return `(strpos(c.attempts::text, ${id}) > 0 OR ${id} !~ '^[ !#-\\[\\]-~]*$')
    AND EXISTS (SELECT FROM json_array_elements(c.attempts) AS a WHERE a->>${upstreamRequestIdAt} = ${id})`;
}

/** Whether this can be the start of one of our ids. */
export function isOwnId(text: string): boolean {
  return /^(?=.*[0-9a-f])[0-9a-f-]{1,36}$/i.test(text);
}

/** The lowest and the highest id with this start. */
function rangeOfIds(start: string): [string, string] {
  const hex = start.toLowerCase().replaceAll('-', '').slice(0, 32);
  return [dashed(hex.padEnd(32, '0')), dashed(hex.padEnd(32, 'f'))];
}

function dashed(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
