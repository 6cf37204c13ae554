import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase, startPostgres } from '#tests/support/database';
import { freePort } from '#tests/support/run/free-port';
import { inherited } from '#tests/support/run/inherited';
import { root, secrets } from '#tests/support/stack';

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-refuses-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Starts the gateway. @returns what it said, after it has ended or been stopped since it was ready. */
async function start(DATABASE_URL: string, PORT = 0): Promise<{ code: number | null; said: string }> {
  const server = spawn(process.execPath, ['dist/server.js'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 200_000,
    env: {
      ...secrets,
      ...inherited(),
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      DATABASE_URL,
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: String(PORT),
    },
  });
  server.stdout.once('data', () => server.kill('SIGTERM'));
  const [said] = await Promise.all([text(server.stderr), once(server, 'exit')]);
  return { code: server.exitCode, said };
}

async function refused(url: string, PORT?: number): Promise<string> {
  const { code, said } = await start(url, PORT);
  expect(code).toBe(1);
  return said;
}

async function query(url: string, ...statements: readonly string[]) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

describe('a start that its database refuses says in one sentence what to do (contract: operations/refused-start)', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  /** The address of a database there. */
  const at = (name: string, role = 'postgres', query = '') =>
    postgres.url.replace('postgres@', `${role}@`).replace(/\/postgres$/, `/${name}${query}`);
  const host = () => new URL(postgres.url).host;
  let certificate = '';

  beforeAll(async () => {
    postgres = await startPostgres('--tls');
    const [row] = await query(
      postgres.url,
      `CREATE ROLE locked LOGIN PASSWORD 'right'`,
      'CREATE ROLE guest LOGIN',
      'CREATE ROLE full_up LOGIN CONNECTION LIMIT 0',
      'CREATE DATABASE locked',
      'CREATE DATABASE books',
      'SHOW data_directory',
    );
    certificate = join((row as { data_directory: string }).data_directory, 'server.crt');
  });
  afterAll(() => postgres.stop());

  it('to a role that may not make tables', async () => {
    expect(await refused(at('books', 'guest'))).toBe(
      `DATABASE_URL: the role guest may not create tables in the database books at ${host()} (permission denied for schema public). Run "ALTER DATABASE books OWNER TO guest" as its owner, or make that role the owner of the existing objects.\n`,
    );
  });

  it('to a password that is wrong', async () => {
    expect(await refused(at('locked', 'locked:wrong'))).toBe(
      `DATABASE_URL: the database locked at ${host()} cannot be used (password authentication failed for user "locked"). Correct the user and password in DATABASE_URL.\n`,
    );
  });

  it('as it is missing', async () => {
    expect(await refused(at('nowhere'))).toBe(
      `DATABASE_URL: the database nowhere at ${host()} cannot be used (database "nowhere" does not exist). Create it, or correct DATABASE_URL.\n`,
    );
  });

  it('as all connections are taken', async () => {
    expect(await refused(at('books', 'full_up'))).toBe(
      `DATABASE_URL: the database books at ${host()} cannot be used (too many connections for role "full_up"). Close some of its connections, or raise the limit of the server or role.\n`,
    );
  });

  it.each(['verify-full', 'require'])(
    'by a certificate that nobody vouches for: sslmode=%s',
    async (mode) => {
      expect(await refused(at('books', 'postgres', `?sslmode=${mode}`))).toBe(
        `DATABASE_URL: the certificate of the database at ${host()} is not trusted (self-signed certificate). Add sslmode=verify-full&sslrootcert=FILE to DATABASE_URL, where FILE is the certificate of the authority that signed it, or sslmode=no-verify if you trust the network.\n`,
      );
    },
  );

  it('by a certificate of another host', async () => {
    const url = at('books', 'postgres', `?sslmode=verify-full&sslrootcert=${certificate}`);
    expect(await refused(url.replace('127.0.0.1', 'localhost'))).toMatch(
      /^DATABASE_URL: the database books at localhost:\d+ cannot be used \(Hostname\/IP does not match .*\)\. Give its server a valid certificate for this host, or correct DATABASE_URL\.\n$/,
    );
  });

  it('by a file of its address that is not there', async () => {
    expect(await refused(at('books', 'postgres', '?sslmode=verify-full&sslrootcert=/no/such/file'))).toBe(
      "DATABASE_URL: the file /no/such/file cannot be read (ENOENT: no such file or directory, open '/no/such/file').\n",
    );
  });

  it('by speaking no TLS', async () => {
    const plain = await createEmptyDatabase();
    try {
      const url = new URL(plain.url);
      url.searchParams.set('sslmode', 'verify-full');
      expect(await refused(url.href)).toBe(
        `DATABASE_URL: the database ${url.pathname.slice(1)} at ${url.host} cannot be used (The server does not support SSL connections). Turn on "ssl" in its server, or remove sslmode from DATABASE_URL if you trust the network.\n`,
      );
    } finally {
      await plain.drop();
    }
  });

  it('and serves over TLS without a warning once the certificate is named, or is not asked for', async () => {
    for (const mode of [`require&sslrootcert=${certificate}`, 'no-verify']) {
      expect(await start(at('books', 'postgres', `?sslmode=${mode}`))).toEqual({
        code: 0,
        said: expect.not.stringContaining('SECURITY WARNING'),
      });
    }
  });

  it('and a port that is in use refuses before the database is changed', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    await query(postgres.url, 'CREATE DATABASE untouched');
    try {
      expect(await refused(at('untouched'), port)).toBe(
        `PORT: ${port} is already in use on 127.0.0.1. Stop the program that uses it, or set another PORT.\n`,
      );
      expect(
        await query(at('untouched'), "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
      ).toEqual([]);
    } finally {
      other.close();
    }
  });
});
