import { shownCall } from '#lib/control/call/detail';
import { callFilters, searched } from '#lib/control/call/filters';
import { getCall, pageOfCalls } from '#lib/control/call/find';
import { read } from '#lib/control/declare';
import { id, isUuid } from '#lib/control/field/kinds';
import { conditionsOf, fieldsOf, limitOf, pageOf, paging } from '#lib/control/field/paging';
import { badInput } from '#lib/control/refusal';

const calls = '/workspaces/{workspace}/calls';

export const showCall = read({
  name: 'call.show',
  summary: 'A call by its request id, with its attempts and its charge; it is there within 2 seconds.',
  reach: 'subject',
  permission: 'logs:read',
  fields: {
    id: id({ label: 'Call', help: 'Its request id: X-Request-Id of the answer.', placeholder: 'REQUEST_ID' }),
  },
  output: shownCall,
  http: [{ method: 'GET', path: `${calls}/{id}` }],
  line: { arguments: ['id'] },
  run: (context, input) => getCall(context, input.id),
});

export const listCalls = read({
  name: 'call.list',
  summary: 'The calls of a workspace, refused ones too, the newest first.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: { ...fieldsOf(callFilters), ...paging },
  output: pageOf(shownCall),
  http: [{ method: 'GET', path: calls }],
  line: {
    columns: ['at', 'id', 'status', 'errorCode', 'answeringModel', 'provider', 'latencyMs', 'cost'],
  },
  run: ({ store, scope, nowMs }, given) => {
    const input = searched(given, nowMs);
    const { after } = input;
    if (after !== undefined && !isUuid(after)) {
      throw badInput('after', 'this is not the "next" of a page of calls');
    }
    const conditions = (values: unknown[]) => conditionsOf(callFilters, input, values);
    return pageOfCalls(store, scope, { conditions, after, limit: limitOf(input) });
  },
});

export const callOperations = [showCall, listCalls];
