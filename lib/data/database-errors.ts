/** Codes of a server that cannot be reached, of one that is starting or full, and of a refused login. */
const away = /^(E(?!RR_)[A-Z_]+|3D000|28[0-9A-Z]{3}|57P0\d|53300)$/;

/** The server of DATABASE_URL does not let this process in. */
export class DatabaseAway extends Error {
  constructor(url: string, cause: Error) {
    const { host, pathname, searchParams } = new URL(url);
    const where = host || searchParams.get('host') || 'localhost';
    super(
      `The database ${pathname.slice(1)} at ${where} cannot be used (${cause.message}): start it, or correct DATABASE_URL.`,
    );
    this.name = 'DatabaseAway';
  }
}

/** What to throw for an error of the first connection to `url`: DatabaseAway where that is what it says. */
export function awayOr(error: unknown, url: string): unknown {
  const isAway = error instanceof Error && 'code' in error && away.test(String(error.code));
  return isAway ? new DatabaseAway(url, error) : error;
}

/** Codes of a network that fails, and of a server that stops, starts or is full. Errors of files have others. */
const unreachable =
  /^(ECONN(REFUSED|RESET|ABORTED)|ETIMEDOUT|EPIPE|E(HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN|08[0-9A-Z]{3}|57P0\d|53300)$/;

/** What pg says, without a code, of a connection that broke, could not be had in time, or fell silent. */
const silent =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/** Whether a statement failed because the database is not there, or does not answer. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (code === '' ? silent.test(error.message) : unreachable.test(code)) || isDatabaseAway(error.cause);
}

/**
 * Whether PostgreSQL refused what a statement holds: data exceptions (22), broken constraints (23), exceeded
 * limits (54). The same again would be refused again.
 */
export function isRefusedData(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(2[23]|54)[0-9A-Z]{3}$/.test(String(error.code));
}

/**
 * Whether a statement names what the database does not have (42703 column, 42P01 table, 42883 function, 42704 type or
 * other object): another version of the gateway has migrated it.
 */
export function isOtherSchema(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(42703|42P01|42883|42704)$/.test(String(error.code));
}

/** Whether a statement gave up because of what others do: a lock (55P03), its time (57014), a deadlock (40P01). */
export function isWaitOver(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(55P03|57014|40P01)$/.test(String(error.code));
}
