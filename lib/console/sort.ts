/** A wish for an order, as it is in an address: "cost", or "-cost" for the largest first. */
export interface Sort {
  readonly by: string;
  readonly descending: boolean;
}

/** @param text of the address: anything. @returns null: no order is named. */
export function readSort(text: string | null | undefined): Sort | null {
  const [, minus, by] = /^(-?)([A-Za-z0-9]{1,40})$/.exec(text ?? '') ?? [];
  return by ? { by, descending: minus === '-' } : null;
}

type Value = string | number | bigint | null | undefined;

/**
 * Sorts a list that is complete. Rows without a value come last in both directions, and equal rows keep their order.
 * @param values by column; a wish for another column changes nothing.
 */
export function sortRows<Row>(
  rows: readonly Row[],
  sort: Sort | null,
  values: Readonly<Record<string, (row: Row) => Value>>,
): readonly Row[] {
  const figure = sort && Object.hasOwn(values, sort.by) ? values[sort.by] : undefined;
  if (!sort || !figure) return rows;
  const sign = sort.descending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [figure(one) ?? null, figure(other) ?? null];
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    if (typeof a === 'string' && typeof b === 'string')
      return sign * a.localeCompare(b, 'en', { numeric: true });
    return a === b ? 0 : a < b ? -sign : sign;
  });
}
