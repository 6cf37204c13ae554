import { cookies } from 'next/headers';
import { type ColumnOf, columnSets, columnsCookie, readColumns, type TableName } from '#lib/console/columns';

/**
 * The columns that the URL of a page or else this browser asks for; null: neither does.
 * @param query of the page's URL.
 */
export async function readChosenColumns<Name extends TableName>(
  table: Name,
  query: Readonly<Record<string, string | string[] | undefined>>,
): Promise<readonly ColumnOf<Name>[] | null> {
  const asked = readColumns(table, [query[columnSets[table].parameter]].flat()[0]);
  return asked ?? readColumns(table, (await cookies()).get(columnsCookie(table))?.value);
}
