import { OperatorError } from '#lib/platform/operator-error';

interface Refusal {
  readonly code: string;
  readonly message: string;
  /** The call to the system that failed: files and sockets have the same codes. */
  readonly syscall?: unknown;
  readonly path?: unknown;
}

/** Where a database is, and who asks. */
interface Place {
  readonly name: string;
  readonly host: string;
  readonly user: string;
}

type Sentence = (place: Place, refusal: Refusal) => string;

const cannotBeUsed =
  (remedy: string): Sentence =>
  ({ name, host }, { message }) =>
    `DATABASE_URL: the database ${name} at ${host} cannot be used (${message}). ${remedy}.`;

const startIt = cannotBeUsed('Start it, or correct DATABASE_URL');

/** After the first semicolon, Node recommends its own flags. */
const certificate: Sentence = ({ host }, { message }) =>
  `DATABASE_URL: the certificate of the database at ${host} is not trusted (${message.split(';')[0]}). Add sslmode=verify-full&sslrootcert=FILE to DATABASE_URL, where FILE is the certificate of the authority that signed it, or sslmode=no-verify if you trust the network.`;

/** By code, the first that matches. */
const sentences: readonly (readonly [RegExp, Sentence])[] = [
  [/^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/, certificate],
  [
    /^(CERT_|ERR_TLS_|ERR_SSL_)/,
    cannotBeUsed('Give its server a valid certificate for this host, or correct DATABASE_URL'),
  ],
  [
    /^42501$/,
    ({ name, host, user }, { message }) =>
      `DATABASE_URL: the role ${user} may not create tables in the database ${name} at ${host} (${message}). Run "ALTER DATABASE ${name} OWNER TO ${user}" as its owner, or make that role the owner of the existing objects.`,
  ],
  [/^28P01$/, cannotBeUsed('Correct the user and password in DATABASE_URL')],
  [
    /^28/,
    cannotBeUsed(
      'Correct the user in DATABASE_URL, or allow it in pg_hba.conf on the server; if the message says "no encryption", add sslmode=verify-full',
    ),
  ],
  [/^3D000$/, cannotBeUsed('Create it, or correct DATABASE_URL')],
  [/^53300$/, cannotBeUsed('Close some of its connections, or raise the limit of the server or role')],
  [
    /^(57P0\d|08[0-9A-Z]{3}|ECONN(REFUSED|RESET|ABORTED)|ETIMEDOUT|EPIPE|E(HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN)$/,
    startIt,
  ],
];

/** By message, where pg gives no code. */
const spoken: readonly (readonly [RegExp, Sentence])[] = [
  [
    /does not support SSL/,
    cannotBeUsed('Turn on "ssl" in its server, or remove sslmode from DATABASE_URL if you trust the network'),
  ],
  [/^(Connection terminated|timeout expired)/, startIt],
];

/** What to throw for an error of the first use of `url`: an OperatorError that says what to do, if that is known. */
export function awayOr(error: unknown, url: string): unknown {
  if (!(error instanceof Error)) return error;
  const { code = '', syscall, path } = error as Error & Partial<Refusal>;
  const refusal = { code: String(code), message: error.message, syscall, path };
  const sentence = sentenceFor(refusal);
  if (sentence) return new OperatorError(sentence(placeOf(url), refusal), { cause: error });
  // Why a migration failed.
  const cause = awayOr(error.cause, url);
  return cause instanceof OperatorError ? cause : error;
}

function sentenceFor({ code, message, syscall }: Refusal): Sentence | undefined {
  // A file named in the address, or a Unix socket.
  if (syscall === 'open')
    return (_, { path }) => `DATABASE_URL: the file ${path} cannot be read (${message}).`;
  if (syscall === 'connect' && /^(ENOENT|EACCES)$/.test(code)) return startIt;
  const all = code === '' ? spoken : sentences;
  return all.find(([pattern]) => pattern.test(code || message))?.[1];
}

function placeOf(url: string): Place {
  const { host, pathname, searchParams, username } = new URL(url);
  return {
    name: pathname.slice(1),
    host: host || searchParams.get('host') || 'localhost',
    user: decodeURIComponent(username) || searchParams.get('user') || 'of this user',
  };
}

/** Codes of a failing network, and of a server that stops, starts, is full or read-only; those of files differ. */
const unreachable =
  /^(ECONN(REFUSED|RESET|ABORTED)|ETIMEDOUT|EPIPE|E(HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN|08[0-9A-Z]{3}|57P0\d|53300|25006)$/;

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
 * Whether PostgreSQL refused the data of a statement: data exceptions (22), broken constraints (23), exceeded
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
