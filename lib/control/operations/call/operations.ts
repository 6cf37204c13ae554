import { z } from 'zod';
import { shownCall } from '#lib/control/operations/call/detail';
import { callFilters } from '#lib/control/operations/call/filters';
import { getCall, pageOfCalls } from '#lib/control/operations/call/find';
import { listFlagged } from '#lib/control/operations/call/flagged';
import { byAnyId, type Counted, countCalls, mostCounted } from '#lib/control/operations/call/search';
import { fromLast, lastField, searched, settledAfter } from '#lib/control/operations/call/span';
import { read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { id, isUuid, toggle } from '#lib/control/operations/field/kinds';
import { fieldsOf, limitOf, pageOf, paging } from '#lib/control/operations/field/paging';
import { badInput } from '#lib/control/operations/refusal';
import { formatUsd } from '#lib/core/money';

const calls = '/workspaces/{workspace}/calls';

export const showCall = read({
  name: 'call.show',
  summary: 'Shows a call by its request id, with its attempts and charge; it appears within 2 seconds.',
  reach: 'subject',
  permission: 'logs:read',
  fields: {
    id: id({ label: 'Call', help: 'Request id: the X-Request-Id of the answer.', placeholder: 'REQUEST_ID' }),
  },
  output: shownCall,
  http: [{ method: 'GET', path: `${calls}/{id}` }],
  line: { arguments: ['id'] },
  run: (context, input) => getCall(context, input.id),
});

const countedCalls = z.object({
  calls: z.int().describe('How many calls match; if there are more than the maximum, the maximum.'),
  cost: z.string().nullable().describe('Their total cost, dollars; null if not all of them were counted.'),
  more: z
    .boolean()
    .describe(
      `Whether there are more than were counted (at most ${mostCounted}), or older ones that were not searched.`,
    ),
});

/** The filters of the log. */
const { id: requestId, ...others } = fieldsOf(callFilters);
export const logFields = { id: requestId, last: lastField, ...others };

export const listCalls = read({
  name: 'call.list',
  summary: 'Lists the calls of a workspace, including refused ones, newest first.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: {
    ...logFields,
    ...fieldsOf({ settledAfter }),
    ...paging,
    count: optional(
      toggle({
        label: 'Count',
        help: `Also counts the matching calls, up to ${mostCounted}.`,
        example: true,
      }),
    ),
  },
  output: pageOf(shownCall).extend({ count: countedCalls.optional() }),
  http: [{ method: 'GET', path: calls }],
  line: {
    columns: ['at', 'id', 'status', 'errorCode', 'answeringModel', 'provider', 'latencyMs', 'cost'],
  },
  run: async (context, given) => {
    const { count, ...asked } = searched(fromLast(given, context.nowMs), context.nowMs);
    const { after } = asked;
    if (after !== undefined && !isUuid(after)) {
      throw badInput('after', 'this is not the "next" of a page of calls');
    }
    const { store, scope, nowMs } = context;
    const input = await byAnyId(store, scope, nowMs, asked);
    const page = await pageOfCalls(context, { input, after }, limitOf(asked));
    const search = { input, after: undefined };
    const counted =
      count === true ? { count: shownCount(await countCalls(store, scope, nowMs, search)) } : {};
    return { ...page, ...counted };
  },
});

function shownCount({ costNano, ...counted }: Counted): z.output<typeof countedCalls> {
  return { ...counted, cost: costNano === null ? null : formatUsd(costNano) };
}

export const callOperations = [showCall, listCalls, listFlagged];
