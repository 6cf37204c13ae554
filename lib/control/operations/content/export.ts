import { z } from 'zod';
import { logFields } from '#lib/control/operations/call/operations';
import { byAnyId, findIds } from '#lib/control/operations/call/search';
import { fromLast, searched } from '#lib/control/operations/call/span';
import { chatLine } from '#lib/control/operations/content/chat-line';
import { filtersText, longestMs, pagesOf } from '#lib/control/operations/content/pages';
import { readKept } from '#lib/control/operations/content/read';
import { type Context, change } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { words } from '#lib/control/operations/field/kinds';

/** Calls of one page, and how much text it may have, characters. */
const mostCalls = 50;
const mostText = 4_194_304;

const exported = z.object({
  lines: z.array(z.string()).describe('A line of JSONL for each conversation: { messages, tools }.'),
  skipped: z
    .int()
    .describe('Calls of the page without a line: no conversation, no answer, or not kept as a whole.'),
  next: z
    .string()
    .nullable()
    .describe('Send it as "after" with the same filters to get the next page; null: this is the last page.'),
});

/** Not a read: each export is in the audit log (contract: content/export). */
export const exportContent = change({
  name: 'content.export',
  summary:
    'Exports kept conversations of the calls that a search finds as JSONL in the chat format; each export is in the audit log.',
  reach: 'workspace',
  permission: 'content:read',
  fields: {
    ...logFields,
    after: optional(
      words({ label: 'After', help: 'The "next" of the previous page.', placeholder: 'NEXT' }, 1_000),
    ),
  },
  output: exported,
  http: [{ method: 'POST', path: '/workspaces/{workspace}/content/export' }],
  text: ({ lines }) => lines.join('\n'),
  run: async (context, { after, ...given }) => {
    const { scope } = context;
    const place = after === undefined ? null : pagesOf(context, 'export', given).placeOf(after);
    const state = { content: 'exported', filters: filtersText(given) };
    return {
      result: { lines: [], skipped: 0, next: null },
      subject: scope.workspaceId,
      // Its first page is recorded; the others need what that page returned.
      before: place === null ? { content: 'kept', filters: null } : state,
      after: state,
    };
  },
  follow: async (context, _, { after, ...given }) => {
    const { store, scope, nowMs } = context;
    const pages = pagesOf(context, 'export', given);
    const place = after === undefined ? null : pages.placeOf(after);
    const search = await byAnyId(store, scope, nowMs, searched(fromLast(given, nowMs), nowMs));
    const { ids, next } = await findIds(store, scope, nowMs, {
      input: { ...search, hasContent: true },
      after: place?.id,
      limit: mostCalls,
    });
    const lines: string[] = [];
    let [skipped, text, last] = [0, 0, next];
    for (const [at, id] of ids.entries()) {
      const line = await lineOf(context, id);
      if (line === null) skipped += 1;
      else {
        lines.push(line);
        text += line.length;
      }
      if (text >= mostText && at < ids.length - 1) {
        last = id;
        break;
      }
    }
    const untilMs = place?.untilMs ?? nowMs + longestMs;
    return { lines, skipped, next: last === null ? null : pages.tokenOf({ id: last, untilMs }) };
  },
});

async function lineOf(context: Context<'workspace'>, id: string): Promise<string | null> {
  const kept = await readKept(context, id);
  const [call] = await context.store.query<{ family: string }>(
    'SELECT family FROM call WHERE id = $1::uuid AND workspace_id = $2::uuid',
    [id, context.scope.workspaceId],
  );
  return kept && call ? chatLine(call.family, kept) : null;
}
