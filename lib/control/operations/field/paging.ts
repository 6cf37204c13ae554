import { z } from 'zod';
import { type Field, optional } from '#lib/control/operations/field/field';
import { choice, count, isUuid, words } from '#lib/control/operations/field/kinds';
import { badInput } from '#lib/control/operations/refusal';
import type { ReadStore } from '#lib/control/operations/store';

const defaultLimit = 50;
/** The largest page. */
export const mostRows = 500;

/** The fields of every list. */
export const paging = pagingBy(defaultLimit);

/** The same for a list with another default page size. */
export function pagingBy(rows: number) {
  const help = `Maximum number of rows. Default: ${rows}.`;
  return {
    limit: optional(count({ label: 'Rows', help, unit: 'rows', example: 20 }, { min: 1, max: mostRows })),
    after: optional(words({ label: 'After', help: 'The "next" of the previous page.', placeholder: 'NEXT' })),
  };
}

/** The number of rows of a page. */
export function limitOf(input: { readonly limit?: number | undefined }): number {
  return input.limit ?? defaultLimit;
}

/** The answer of every list: a page, and where the next one begins (null: there is none). */
export function pageOf<Row>(row: z.ZodType<Row>) {
  return z.object({
    data: z.array(row),
    next: z
      .string()
      .nullable()
      .describe('Send it as "after" to get the next page; null: this is the last page.'),
  });
}

/** Where a page ended: time and id of the last row, which itself may be gone when the next page is read. */
export interface ListPlace {
  readonly at: Date;
  readonly id: string;
}

export function placeText({ at, id }: ListPlace): string {
  return `${at.getTime()}.${id}`;
}

/** @param what "a page of keys". @throws ControlRefused (invalid_body) for an `after` that is not from such a page. */
export function placeOf(after: string, what: string): ListPlace {
  const [, ms = '', id = ''] = /^(\d{1,14})\.([0-9a-f-]{36})$/.exec(after) ?? [];
  if (!isUuid(id)) throw badInput('after', `this is not the "next" of ${what}`);
  return { at: new Date(Number(ms)), id };
}

/**
 * A time as the value of an order, so that an index of it serves: places are ms since the epoch.
 * @param without where rows without a time are, if the column may be null.
 */
export function timeOrder(column: string, without?: 'earliest' | 'latest'): Order {
  const end = { earliest: 'epoch', latest: '9999-12-31' };
  return { sql: without ? `coalesce(${column}, timestamptz '${end[without]}')` : column, type: 'time' };
}

/** An order of a list by a value of its rows. */
export interface Order {
  /** The value in SQL; never null, because rows without one must have a place too. */
  readonly sql: string;
  readonly type: 'text' | 'bigint' | 'time';
}
type Orders = Readonly<Record<string, Order>>;

/** The field with which a list is sorted: the name of an order, with "-" the other way round. */
export function sortBy(orders: Orders, usual: string): Field<string, false> {
  const words = Object.keys(orders).flatMap((by) => [by, `-${by}`]);
  const help = `Order of the rows; "-" for the largest or the latest first. Default: ${usual}.`;
  return optional(choice<string>({ label: 'Sort', help, example: words[1] }, words));
}

/** The parts of a statement that reads one page of a list in an order. */
interface Keyset {
  /** The value of the order, as text, for `nextOf`. */
  readonly place: string;
  readonly orderBy: string;
  /** Empty on the first page. */
  readonly conditions: readonly string[];
}

/**
 * A page by keyset: rows of equal value are in the order of their ids.
 * @param id of the row in SQL: "k.id".
 * @param values of the statement; those of the page's start are added to them.
 * @throws ControlRefused (invalid_body) for an `after` that is not from a page in this order.
 */
export function keysetOf(
  orders: Orders,
  { sort, after }: { readonly sort: string; readonly after?: string | undefined },
  id: string,
  values: unknown[],
): Keyset {
  const descending = sort.startsWith('-');
  const { sql, type } = orders[sort.replace(/^-/, '')] ?? unknownOrder(sort);
  const direction = descending ? 'DESC' : 'ASC';
  const place = type === 'time' ? `(extract(epoch FROM ${sql}) * 1000)::bigint::text` : `(${sql})::text`;
  const keyset = { place, orderBy: `(${sql}) ${direction}, ${id} ${direction}` };
  if (after === undefined) return { ...keyset, conditions: [] };
  const start = startOf(after, sort, type);
  const given = `$${values.push(start.place)}`;
  const value =
    type === 'time' ? `(timestamptz 'epoch' + ${given}::bigint * interval '1 ms')` : `${given}::${type}`;
  const last = `$${values.push(start.id)}::uuid`;
  return { ...keyset, conditions: [`((${sql}), ${id}) ${descending ? '<' : '>'} (${value}, ${last})`] };
}

/** `next` of a page in an order. @param rows one more than `limit` if there is a next page. */
export function nextOf(
  rows: readonly { readonly id: string; readonly place: string }[],
  limit: number,
  sort: string,
): string | null {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return last ? `${sort}.${Buffer.from(last.place).toString('base64url')}.${last.id}` : null;
}

/**
 * The ids of one page of a list in an order, and the `next` of that page.
 * @param list `from` and `id` in SQL ("top_up t", "t.id"); `where` adds its values to those of the statement.
 * @param page `limit` in rows.
 */
export async function pageOfIds(
  store: Pick<ReadStore, 'query'>,
  list: {
    readonly from: string;
    readonly id: string;
    readonly orders: Orders;
    where(values: unknown[]): readonly string[];
  },
  page: { readonly sort: string; readonly after?: string | undefined; readonly limit: number },
): Promise<{ ids: string[]; next: string | null }> {
  const values: unknown[] = [page.limit + 1];
  const where = list.where(values);
  const { place, orderBy, conditions } = keysetOf(list.orders, page, list.id, values);
  const found = await store.query<{ id: string; place: string }>(
    `SELECT ${list.id}::text AS id, ${place} AS place FROM ${list.from}
     WHERE ${[...where, ...conditions].join(' AND ')} ORDER BY ${orderBy} LIMIT $1`,
    values,
  );
  return {
    ids: found.slice(0, page.limit).map(({ id }) => id),
    next: nextOf(found, page.limit, page.sort),
  };
}

/** Rows in the order of their ids; what is gone meanwhile is left out. */
export function inOrderOf<Row extends { readonly id: string }>(
  ids: readonly string[],
  rows: readonly Row[],
): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function startOf(after: string, sort: string, type: Order['type']): { place: string; id: string } {
  const [asked, coded = '', id = ''] = after.split('.');
  const place = Buffer.from(coded, 'base64url').toString();
  const readable = { text: /^[^\0]*$/, bigint: /^-?\d{1,18}$/, time: /^\d{1,15}$/ }[type].test(place);
  if (asked === sort && readable && isUuid(id)) return { place, id };
  throw badInput('after', `this is not the "next" of a page sorted by ${sort}`);
}

function unknownOrder(sort: string): never {
  throw badInput('sort', `there is no order ${sort}`);
}

/** A filter of a list: its field, and its condition in SQL. Adding one is one entry of such a record. */
export interface Filter<Value = unknown> {
  readonly field: Field<Value>;
  /** The parameter of the statement for a value; if absent, the value itself. */
  parameter?(given: NoInfer<Value>): unknown;
  /** @param parameter its placeholder in the statement: "$3". */
  sql(parameter: string): string;
}

/** One entry of a record of filters. */
export function filter<Value>(one: Filter<Value>): Filter<Value> {
  return one;
}

type FieldsOf<F> = {
  [N in keyof F]: F[N] extends { field: Field<infer Value> } ? Field<Value, false> : never;
};

/** The fields of a list's filters, all of them optional. */
export function fieldsOf<F extends Readonly<Record<string, Filter>>>(filters: F): FieldsOf<F> {
  const fields = Object.entries(filters).map(([name, { field }]) => [name, optional(field)]);
  return Object.fromEntries(fields) as FieldsOf<F>;
}

/** The conditions of the filters that were given; their values are added to `values`. */
export function conditionsOf(
  filters: Readonly<Record<string, Filter>>,
  input: Readonly<Record<string, unknown>>,
  values: unknown[],
): string[] {
  return Object.entries(filters).flatMap(([name, { parameter, sql }]) => {
    const given = input[name];
    if (given === undefined || given === null) return [];
    values.push(parameter ? parameter(given) : given);
    return [`(${sql(`$${values.length}`)})`];
  });
}
