import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { choice, time, words } from '#lib/control/operations/field/kinds';
import {
  conditionsOf,
  fieldsOf,
  type ListPlace,
  limitOf,
  pageOf,
  paging,
  placeOf,
  placeText,
} from '#lib/control/operations/field/paging';
import { inScope, within } from '#lib/control/operations/scope';
import { listActors } from '#lib/control/operations/trail/actors';
import { namesOfSubjects } from '#lib/control/operations/trail/subjects';

const states = z.record(z.string(), z.unknown()).nullable();
const shownRow = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  actor: z.string().describe('Id of a user, "management-key <id>", or "command line".'),
  action: z.string().describe('The operation: "key.revoke".'),
  subject: z.string().describe('Id of what was changed.'),
  called: z
    .string()
    .nullable()
    .describe('The present name of a key or webhook, or the address of a person; null: none is known.'),
  before: states.describe('The differences, before the change; null: it is new.'),
  after: states.describe('The differences, after the change; null: it was deleted.'),
  address: z.string().nullable().describe('Network address of the caller; null: this machine.'),
});

export const auditFilters = {
  action: {
    field: words({ label: 'Action', help: 'Rows of this operation.', example: 'key.revoke' }, 100),
    sql: (text: string) => `a.action = ${text}`,
  },
  subject: {
    field: words({ label: 'Subject', help: 'Rows about this id.' }, 200),
    sql: (text: string) => `a.subject = ${text}`,
  },
  actor: {
    field: words({ label: 'Actor', help: 'Rows of this actor, as shown in the rows.' }, 200),
    sql: (text: string) => `a.actor = ${text}`,
  },
  from: {
    field: time({ label: 'From', help: 'At or after this time.' }),
    sql: (at: string) => `a.at >= ${at}::timestamptz`,
  },
  to: {
    field: time({ label: 'To', help: 'Before this time.' }),
    sql: (at: string) => `a.at < ${at}::timestamptz`,
  },
};

const auditOrder = {
  order: optional(
    choice({ label: 'Order', help: 'Which row comes first. Default: newest.' }, ['newest', 'oldest']),
  ),
};

export const listAudit = read({
  name: 'audit.list',
  summary: 'Lists what was changed in a workspace, by whom and from where, by default newest first.',
  reach: 'subject',
  permission: 'workspace:read',
  fields: { ...fieldsOf(auditFilters), ...auditOrder, ...paging },
  output: pageOf(shownRow),
  http: [{ method: 'GET', path: '/workspaces/{workspace}/audit' }],
  line: { workspace: 'optional' },
  run: async ({ store, scope }, input) => {
    const limit = limitOf(input);
    const oldest = input.order === 'oldest';
    const values: unknown[] = [limit + 1];
    const where = [within(scope, 'a.workspace_id', values), ...conditionsOf(auditFilters, input, values)];
    if (input.after !== undefined) {
      const { at, id } = placeOf(input.after, 'a page of audit rows');
      values.push(at, id);
      where.push(
        `(a.at, a.id) ${oldest ? '>' : '<'} ($${values.length - 1}::timestamptz, $${values.length}::uuid)`,
      );
    }
    const found = await store.query<ListPlace>(
      `SELECT a.id::text AS id, a.at FROM audit a WHERE ${where.join(' AND ')} ORDER BY ${oldest ? 'a.at, a.id' : 'a.at DESC, a.id DESC'} LIMIT $1`,
      values,
    );
    const ids = found.slice(0, limit).map(({ id }) => id);
    const rows = await store.prisma.audit.findMany({ where: { ...inScope(scope), id: { in: ids } } });
    const names = await namesOfSubjects(
      store,
      scope,
      rows.map(({ subject }) => subject),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    const data = ids.flatMap((id) => {
      const row = byId.get(id);
      return row ? [{ ...shown(row), called: names.get(row.subject) ?? null }] : [];
    });
    const last = found.length > limit ? found[limit - 1] : undefined;
    return { data, next: last ? placeText(last) : null };
  },
});

export const auditOperations = [listAudit, listActors];

interface Row {
  id: string;
  at: Date;
  actor: string;
  action: string;
  subject: string;
  before: unknown;
  after: unknown;
  detail: unknown;
  address: string | null;
}

/** Other facts of a mutation (a model, an overlap) are shown with the state after it, or else before it. */
function shown({ id, at, actor, action, subject, before, after, detail, address }: Row) {
  const [was, is] = [stateOf(before), stateOf(after)];
  const told = stateOf(detail);
  return {
    id,
    at: at.toISOString(),
    actor,
    action,
    subject,
    before: is === null && was !== null ? { ...was, ...told } : was,
    after: is && { ...is, ...told },
    address,
  };
}

/** The runner writes objects; rows of older versions have none. */
function stateOf(stored: unknown): Record<string, unknown> | null {
  return typeof stored === 'object' && stored !== null && !Array.isArray(stored) ? { ...stored } : null;
}
