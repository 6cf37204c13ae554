import { z } from 'zod';
import { shownCall } from '#lib/control/operations/call/detail';
import { callFilters } from '#lib/control/operations/call/filters';
import { getCall, pageOfCalls, pageOfRanked } from '#lib/control/operations/call/find';
import { listFlagged } from '#lib/control/operations/call/flagged';
import {
  byAnyId,
  type Counted,
  callOrders,
  countCalls,
  mostCounted,
  mostListed,
  mostRanked,
  type Ranked,
} from '#lib/control/operations/call/search';
import { fromLast, lastField, searched, settledAfter } from '#lib/control/operations/call/span';
import { read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { id, isUuid, toggle, words } from '#lib/control/operations/field/kinds';
import { fieldsOf, limitOf, pageOf, paging, sortBy } from '#lib/control/operations/field/paging';
import { badInput } from '#lib/control/operations/refusal';
import { readUsage } from '#lib/control/operations/usage/sums';
import { formatUsd } from '#lib/core/money';
import { idTimeMs } from '#lib/platform/ids';

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

const rankedCalls = z
  .object({
    calls: z.int().describe('How many calls were compared, before the filters that no index serves.'),
    from: z.iso
      .datetime()
      .nullable()
      .describe('About when the oldest of them was made; null: there are none.'),
    all: z
      .boolean()
      .describe(`Whether these are all calls of the range; otherwise the newest ${mostRanked} of it.`),
  })
  .describe(`With "sort": which calls the at most ${mostListed} listed ones are the first of.`);

/** The filters of the log. */
const { id: requestId, ...others } = fieldsOf(callFilters);
export const logFields = { id: requestId, last: lastField, ...others };

export const listCalls = read({
  name: 'call.list',
  summary: 'Lists the calls of a workspace, including refused ones, by default newest first.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: {
    ...logFields,
    ...fieldsOf({ settledAfter }),
    sort: sortBy(callOrders, 'newest first'),
    ...paging,
    count: optional(
      toggle({
        label: 'Count',
        help: `Also counts the matching calls, up to ${mostCounted}.`,
        example: true,
      }),
    ),
  },
  output: pageOf(shownCall).extend({ count: countedCalls.optional(), ranked: rankedCalls.optional() }),
  http: [{ method: 'GET', path: calls }],
  line: {
    columns: ['at', 'id', 'status', 'errorCode', 'answeringModel', 'provider', 'latencyMs', 'cost'],
  },
  run: async (context, given) => {
    const { count, ...asked } = searched(fromLast(given, context.nowMs), context.nowMs);
    const { after, sort } = asked;
    if (sort === undefined && after !== undefined && !isUuid(after)) {
      throw badInput('after', 'this is not the "next" of a page of calls');
    }
    const { store, scope, nowMs } = context;
    const input = await byAnyId(store, scope, nowMs, asked);
    const page =
      sort === undefined
        ? await pageOfCalls(context, { input, after }, limitOf(asked))
        : shownRanking(await pageOfRanked(context, { input, after, sort }, limitOf(asked)));
    const search = { input, after: undefined };
    const counted =
      count === true ? { count: shownCount(await countCalls(store, scope, nowMs, search)) } : {};
    return { ...page, ...counted };
  },
});

function shownRanking<Page extends { readonly ranked: Ranked }>({ ranked, ...page }: Page) {
  const { oldestId, ...looked } = ranked;
  const from = oldestId === null ? null : new Date(idTimeMs(oldestId)).toISOString();
  return { ...page, ranked: { ...looked, from } };
}

function shownCount({ costNano, ...counted }: Counted): z.output<typeof countedCalls> {
  return { ...counted, cost: costNano === null ? null : formatUsd(costNano) };
}

const calledDays = 30;

export const listCalledModels = read({
  name: 'call.models',
  summary: `Lists the models that were called in the last ${calledDays} days, the most called first.`,
  reach: 'workspace',
  permission: 'logs:read',
  fields: {
    search: optional(words({ label: 'Search', help: 'Part of the model’s id.' }, 200)),
    limit: paging.limit,
  },
  output: z.object({ data: z.array(z.string()) }),
  run: async ({ store, scope, nowMs }, input) => {
    const range = { fromMs: nowMs - calledDays * 24 * 3_600_000, toMs: nowMs };
    const parts = await readUsage(store, scope, { range, split: 'model', durations: false });
    const calls = new Map<string, number>();
    for (const { value, sums } of parts) calls.set(value, (calls.get(value) ?? 0) + sums.calls);
    const search = (input.search ?? '').toLowerCase();
    const found = [...calls].filter(([model]) => model !== '' && model.toLowerCase().includes(search));
    found.sort(([, one], [, other]) => other - one);
    return { data: found.slice(0, limitOf(input)).map(([model]) => model) };
  },
});

export const callOperations = [showCall, listCalls, listCalledModels, listFlagged];
