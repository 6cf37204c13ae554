/** PostgreSQL: invalid_parameter_value. */
const unknownZone = '22023';

/**
 * Queries the database in a time zone, or in UTC if it does not know that zone (which was then written by hand).
 * @param zone null: the time zone in the row.
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
