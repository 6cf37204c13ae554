import { more } from '#lib/control/operations/call/figure-filters';
import { words } from '#lib/control/operations/field/kinds';
import { filter } from '#lib/control/operations/field/paging';
import type { Store } from '#lib/control/operations/store';
import { endUserName, longestTagValue, type Tag } from '#lib/core/facts/tags';

/** Tags of calls by the call's id. @param callIds of calls that the reader may see. */
export async function readTags(
  { query }: Pick<Store, 'query'>,
  callIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Tag[]>> {
  const rows = await query<{ id: string; name: string; value: string }>(
    `SELECT c.call_id::text AS id, t.name, t.value FROM call_tag c JOIN tag t ON t.id = c.tag_id
     WHERE c.call_id = ANY ($1::uuid[]) ORDER BY t.name`,
    [callIds],
  );
  const byCall = new Map<string, Tag[]>();
  for (const { id, name, value } of rows) {
    const tags = byCall.get(id) ?? [];
    byCall.set(id, tags);
    tags.push({ name, value });
  }
  return byCall;
}

const tagged = (condition: string) =>
  `EXISTS (SELECT FROM call_tag ct JOIN tag t ON t.id = ct.tag_id
    WHERE ct.call_id = c.id AND t.workspace_id = c.workspace_id AND ${condition})`;

/** Filters of the log by whom calls were for (contract: tags/log). */
export const tagFilters = {
  tag: filter({
    field: words(
      {
        label: 'Tag',
        help: 'A tag and its value, or only its name: calls with any value of it.',
        group: more,
        example: 'feature=search',
      },
      longestTagValue + 65,
    ),
    parameter: (given) => {
      const at = given.indexOf('=');
      return at < 0 ? [given, null] : [given.slice(0, at).trim(), given.slice(at + 1).trim()];
    },
    sql: (pair) =>
      tagged(`t.name = (${pair}::text[])[1] AND t.name <> '${endUserName}'
        AND ((${pair}::text[])[2] IS NULL OR t.value = (${pair}::text[])[2])`),
  }),
  endUser: filter({
    field: words(
      { label: 'End user', help: 'The app’s own id of its user.', group: more, example: 'user-17' },
      longestTagValue,
    ),
    sql: (value) => tagged(`t.name = '${endUserName}' AND t.value = ${value}`),
  }),
};
