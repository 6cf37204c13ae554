import { type Command, CommandRefused } from '#lib/command/command';
import { fieldLines, tableLines } from '#lib/command/text';
import { getWorkspaceId } from '#lib/command/workspace';
import { findCall, listCalls } from '#lib/queries/calls';

export const call: readonly Command[] = [
  {
    name: 'call show',
    usage: 'REQUEST_ID',
    positionals: ['REQUEST_ID'],
    options: [],
    required: [],
    run: async (context, input) => {
      const [id = ''] = input.positionals;
      const found = await findCall(await context.db(), { workspaceId: null, id });
      if (!found) {
        throw new CommandRefused(
          `there is no call "${id}"; take the id from X-Request-Id (a call appears within 2 seconds)`,
        );
      }
      return { json: found, text: fieldLines({ ...found }) };
    },
  },
  {
    name: 'call list',
    usage: '--workspace SLUG [--limit N]',
    positionals: [],
    options: ['workspace', 'limit'],
    required: ['workspace'],
    run: async (context, input) => {
      const limit = Number(input.options.limit ?? '50');
      if (!Number.isInteger(limit) || limit < 1 || limit > 500) {
        throw new CommandRefused('--limit: write a whole number from 1 to 500');
      }
      const db = await context.db();
      const { id } = await getWorkspaceId(db, input.options.workspace ?? '');
      const page = await listCalls(db, { workspaceId: id, limit });
      const rows = page.calls.map((one) => [
        one.at,
        one.id,
        one.status,
        one.errorCode ?? '',
        one.answeringModel ?? one.requestedModel,
        one.provider ?? '',
        `${one.latencyMs} ms`,
        one.cost,
      ]);
      const titles = ['AT', 'REQUEST ID', 'STATUS', 'CODE', 'MODEL', 'PROVIDER', 'LATENCY', 'COST'];
      return { json: page, text: tableLines(titles, rows, 'no calls yet') };
    },
  },
];
