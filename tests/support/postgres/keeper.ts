import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyPrograms, makePlace, serverAccount } from '#tests/support/postgres/files';
import { freePort } from '#tests/support/run/free-port';

// Runs a PostgreSQL server for as long as standard input stays open, so that a killed test run leaves no
// server behind. Prints the server's address once it accepts connections. With `--tls` it has a self-signed
// certificate for 127.0.0.1, `server.crt` next to its data; role and database `locked` then need a password. With
// `--fleet` it takes the connections of 100 gateways, and counts what each statement took (pg_stat_statements).

const owner = serverAccount();
const place = makePlace(owner);
const options = { ...owner, cwd: place, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } };

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

function fail(message: string): never {
  rmSync(place, { recursive: true, force: true });
  console.error(message);
  process.exit(1);
}

const programs = copyPrograms(place);
const data = join(place, 'data');
const made = spawnSync(
  join(programs, 'bin/initdb'),
  ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
  options,
);
if (made.status !== 0) fail(`initdb failed: ${made.error ?? made.stderr}`);

if (process.argv.includes('--tls')) {
  const files = ['-keyout', join(data, 'server.key'), '-out', join(data, 'server.crt')];
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const signed = spawnSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names, ...files],
    options,
  );
  if (signed.status !== 0) fail(`openssl failed: ${signed.error ?? signed.stderr}`);
  chmodSync(join(data, 'server.key'), 0o600);
  const rules = join(data, 'pg_hba.conf');
  writeFileSync(rules, `host all locked 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, 'utf8')}`);
}

const port = await freePort();
const settings = {
  listen_addresses: '127.0.0.1',
  port,
  unix_socket_directories: '',
  max_connections: process.argv.includes('--fleet') ? 3_000 : 300,
  fsync: 'off',
  synchronous_commit: 'on',
  full_page_writes: 'off',
  shared_buffers: '64MB',
  autovacuum: 'off',
  ...(process.argv.includes('--tls') && { ssl: 'on' }),
  ...(process.argv.includes('--fleet') && {
    shared_preload_libraries: 'pg_stat_statements',
    'pg_stat_statements.max': 20_000,
    'pg_stat_statements.track_planning': 'on',
  }),
};
const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
const server = spawn(join(programs, 'bin/postgres'), ['-D', data, ...flags], {
  ...options,
  // Its own process group: Ctrl-C ends the tests first, and they stop it.
  detached: true,
  stdio: ['ignore', 'ignore', 'pipe'],
});

let log = '';
server.on('error', (error) => fail(`PostgreSQL did not start: ${error}`));
server.stderr.on('data', (chunk) => {
  log = (log + chunk).slice(-4000);
  if (!log.includes('ready to accept connections')) return;
  server.stderr.removeAllListeners('data').resume();
  console.log(`postgresql://postgres@127.0.0.1:${port}/postgres`);
});
server.on('exit', () => fail(`PostgreSQL ended:\n${log}`));

process.stdin.resume().on('close', () => {
  server.removeAllListeners('exit').on('exit', () => {
    rmSync(place, { recursive: true, force: true });
    process.exit(0);
  });
  // Immediate shutdown: the data is deleted.
  server.kill('SIGQUIT');
});
