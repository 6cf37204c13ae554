/** PostgreSQL: invalid_parameter_value. */
const unknownZone = '22023';

/**
 * Asks the database in a time zone; in UTC where it does not know that one (written past the operations).
 * @param zone null: the one that stands in the row.
 * @throws every other error of the database.
 */
export async function inZone<R>(zone: string | null, ask: (zone: string | null) => Promise<R>): Promise<R> {
  try {
    return await ask(zone);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === unknownZone)) throw error;
    return ask('UTC');
  }
}
