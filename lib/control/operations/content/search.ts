import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { logFields } from '#lib/control/operations/call/operations';
import { byAnyId, findIds } from '#lib/control/operations/call/search';
import { fromLast, searched } from '#lib/control/operations/call/span';
import { filtersText, longestMs, pagesOf } from '#lib/control/operations/content/pages';
import { bytesOf, readSealed } from '#lib/control/operations/content/read';
import { type Excerpt, findText, textsOf } from '#lib/control/operations/content/texts';
import { type Context, change } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { words } from '#lib/control/operations/field/kinds';
import { conflict } from '#lib/control/operations/refusal';
import { openContent } from '#lib/gateway/content/stored';

/** What one page decrypts and reads at most, in calls and in ms, and how many it finds. */
const mostRead = 25_000;
const longestPageMs = 10_000;
const mostFound = 50;
/** Calls whose content is in memory at the same time, and how many ids are looked up at once. */
const together = 25;
const idsTogether = 500;

const found = z.object({
  data: z.array(
    z.object({
      id: z.uuid().describe('Request id of the call.'),
      at: z.iso.datetime().describe('When it began.'),
      requestedModel: z.string().nullable(),
      side: z.enum(['request', 'answer']).describe('Where the text was found first.'),
      before: z.string().describe('At most 80 characters before it.'),
      match: z.string().describe('The text as it is written there.'),
      after: z.string().describe('At most 80 characters after it.'),
    }),
  ),
  read: z.int().describe('Calls whose content this page has read.'),
  unreadable: z
    .int()
    .describe('Calls among them whose content is sealed with another key, or missing in the content store.'),
  next: z
    .string()
    .nullable()
    .describe(
      'Send it as "after" with the same text and filters to search older calls; null: there are none.',
    ),
});
type Found = z.output<typeof found>;

/** Not a read: each search is in the audit log (contract: content/search). */
export const searchContent = change({
  name: 'content.search',
  summary:
    'Finds the calls in whose kept content a text occurs, among those that a search of the log finds; each search is in the audit log.',
  reach: 'workspace',
  permission: 'content:read',
  fields: {
    ...logFields,
    text: words(
      {
        label: 'Text',
        help: 'Text to find in requests and answers, in capital or small letters.',
        placeholder: 'TEXT',
      },
      200,
    ),
    after: optional(
      words({ label: 'After', help: 'The "next" of the previous page.', placeholder: 'NEXT' }, 1_000),
    ),
  },
  output: found,
  http: [{ method: 'POST', path: '/workspaces/{workspace}/content/search' }],
  line: { arguments: ['text'] },
  text: ({ data, read, next }) =>
    [
      ...data.map(({ id, before, match, after }) => `${id}  ${before}${match}${after}`),
      `${data.length} found in ${read} calls${next === null ? '' : `; for older ones: --after ${next}`}`,
    ].join('\n'),
  run: async (context, { after, ...given }) => {
    const { scope, sealingKey } = context;
    const place = after === undefined ? null : pagesOf(context, 'search', given).placeOf(after);
    if (sealingKey === null)
      throw conflict('set ENCRYPTION_KEY for this process; kept content cannot be decrypted without it');
    // The text itself is not recorded: people search for secrets that leaked.
    const { text: _, ...filters } = given;
    const state = { content: 'searched', filters: filtersText(filters) };
    return {
      result: { data: [], read: 0, unreadable: 0, next: null },
      subject: scope.workspaceId,
      // Its first page is recorded; the others need what that page returned.
      before: place === null ? { content: 'kept', filters: null } : state,
      after: state,
    };
  },
  follow: (context, _, { after, text, ...filters }) =>
    inTurn(async () => {
      const { store, scope, nowMs } = context;
      const pages = pagesOf(context, 'search', { ...filters, text });
      const place = after === undefined ? null : pages.placeOf(after);
      const untilMs = place?.untilMs ?? nowMs + longestMs;
      const input = {
        ...(await byAnyId(store, scope, nowMs, searched(fromLast(filters, nowMs), nowMs))),
        hasContent: true,
      };
      const page: Found = { data: [], read: 0, unreadable: 0, next: null };
      const stopMono = performance.now() + longestPageMs;
      let last = place?.id;
      for (;;) {
        const { ids, next } = await findIds(store, scope, nowMs, { input, after: last, limit: idsTogether });
        for (let at = 0; at < ids.length; at += together) {
          const some = ids.slice(at, at + together);
          await readCalls(context, some, text, page);
          last = some.at(-1);
          const isLast = next === null && at + together >= ids.length;
          if (!isLast && isFull(page, stopMono)) return { ...page, next: nextOf(last) };
        }
        if (next === null) return page;
        last = next;
        if (isFull(page, stopMono)) return { ...page, next: nextOf(last) };
      }
      function nextOf(id: string | undefined): string | null {
        return id === undefined ? null : pages.tokenOf({ id, untilMs });
      }
    }),
});

function isFull({ data, read }: Found, stopMono: number): boolean {
  return data.length >= mostFound || read >= mostRead || performance.now() >= stopMono;
}

/** Reads the content of some calls, and adds those in which the text occurs to the page. */
async function readCalls(
  context: Context<'workspace'>,
  ids: readonly string[],
  text: string,
  page: Found,
): Promise<void> {
  const { scope, sealingKey } = context;
  if (sealingKey === null) return;
  const rows = await readSealed(context, ids);
  const all = await Promise.all(rows.map((row) => bytesOf(context, row)));
  for (const [place, { callId, at, requestedModel }] of rows.entries()) {
    page.read += 1;
    const owner = { workspaceId: scope.workspaceId, callId };
    const sealed = all[place] ?? null;
    const kept = sealed && (await openContent(owner, sealed, sealingKey).catch(() => null));
    if (kept === null) page.unreadable += 1;
    const found = kept && (foundIn('request', kept, text) ?? foundIn('answer', kept, text));
    if (found) page.data.push({ id: callId, at: at.toISOString(), requestedModel, ...found });
    // A page reads thousands of calls, and the process may be serving others.
    await nextTurn();
  }
}

function foundIn<Side extends 'request' | 'answer'>(
  side: Side,
  kept: Readonly<Record<Side, Parameters<typeof textsOf>[0]>>,
  text: string,
): ({ readonly side: Side } & Excerpt) | null {
  const excerpt = findText(textsOf(kept[side]), text);
  return excerpt && { side, ...excerpt };
}

/** Searches that wait for others of the process. */
const mostWaiting = 8;
let waiting = 0;
let running: Promise<unknown> = Promise.resolve();

/** One search at a time in a process, so that together they take no more than the time of one. */
async function inTurn<Out>(work: () => Promise<Out>): Promise<Out> {
  if (waiting >= mostWaiting) throw conflict('other searches are running; try again in a minute');
  waiting += 1;
  const done = running.then(work);
  running = done.catch(() => undefined);
  return done.finally(() => {
    waiting -= 1;
  });
}
