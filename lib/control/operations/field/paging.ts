import { z } from 'zod';
import { type Field, optional } from '#lib/control/operations/field/field';
import { count, isUuid, words } from '#lib/control/operations/field/kinds';
import { badInput } from '#lib/control/operations/refusal';

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
