import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { transact } from '#lib/control/operations/store';
import { openDb } from '#lib/platform/data/db';
import { type Embedded, openEmbedded } from '#lib/platform/data/embedded';
import { findHolder, runDirectory } from '#lib/platform/data/embedded-directory';
import { signal } from '#tests/support/fleet/process-tree';
import { embeddedDirectory } from '#tests/support/shared/embedded';

const program = fileURLToPath(new URL('./embedded-holder.ts', import.meta.url));
const open: Embedded[] = [];
const holders: ChildProcess[] = [];
/** For tests that neither start nor end it. */
let shared: Embedded;
beforeAll(async () => {
  shared = await openEmbedded(await embeddedDirectory('migrated'), 'server');
});
afterAll(() => shared.close());

async function openHere(dataDir: string, role: 'server' | 'command' = 'server'): Promise<Embedded> {
  const embedded = await openEmbedded(dataDir, role);
  open.push(embedded);
  return embedded;
}

/** Another process that holds the database of `dataDir` until it is killed or its input ends. */
async function holdElsewhere(dataDir: string, role: 'server' | 'command'): Promise<ChildProcess> {
  const holder = spawn(process.execPath, [program, dataDir, role], { stdio: ['pipe', 'pipe', 'inherit'] });
  holders.push(holder);
  await once(createInterface({ input: holder.stdout }), 'line');
  return holder;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

afterEach(async () => {
  for (const holder of holders.splice(0)) holder.kill('SIGKILL');
  for (const embedded of open.splice(0)) await embedded.close();
});

describe('the embedded database (contract: durability/embedded-database)', () => {
  it('refuses a second server on its directory and names the holder', async () => {
    const dataDir = await embeddedDirectory('made');
    const holder = await holdElsewhere(dataDir, 'server');
    await expect(openHere(dataDir)).rejects.toThrow(`in use by the server with process id ${holder.pid}`);
  });

  it('serves a command beside the running server, and stays when the command has ended', async () => {
    const dataDir = await embeddedDirectory('made');
    await holdElsewhere(dataDir, 'server');
    const command = await openEmbedded(dataDir, 'command');
    await query(command.url, 'CREATE TABLE t (n INT)');
    await command.close();
    expect(await query(command.url, 'SELECT count(*)::int AS n FROM t')).toEqual([{ n: 0 }]);
  });

  // private-files.spec.ts creates one just for a command.
  it('is opened for one command and ends with it', async () => {
    const dataDir = await embeddedDirectory('made');
    const command = await openEmbedded(dataDir, 'command');
    expect(await query(command.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await command.close();
    expect(readdirSync(join(dataDir, 'run'))).toEqual([]);
  });

  it('waits for a command to finish before a server starts', async () => {
    const dataDir = await embeddedDirectory('made');
    const command = await holdElsewhere(dataDir, 'command');
    const server = openHere(dataDir);
    command.stdin?.end();
    expect(await query((await server).url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  it('starts again after its server was killed, with every committed row', async () => {
    const dataDir = await embeddedDirectory('made');
    const holder = await holdElsewhere(dataDir, 'server');
    const { url } = await openEmbedded(dataDir, 'command');
    await query(url, 'CREATE TABLE t AS SELECT generate_series(1, 1000) AS n');
    holder.kill('SIGKILL');
    const server = await openHere(dataDir);
    expect(await query(server.url, 'SELECT count(*)::int AS n FROM t')).toEqual([{ n: 1000 }]);
  });

  it('restarts automatically when its process is killed', async () => {
    const dataDir = await embeddedDirectory('made');
    const embedded = await openHere(dataDir);
    await query(embedded.url, 'CREATE TABLE t AS SELECT 7 AS n');
    const before = findHolder(dataDir)?.childPid;
    signal(before, 'SIGKILL');
    const rows = () => query(embedded.url, 'SELECT n FROM t').catch(() => null);
    await expect.poll(rows).toEqual([{ n: 7 }]);
    expect(findHolder(dataDir)?.childPid).not.toBe(before);
  });

  it('uses the room that deleted rows have left, also where its map was missing before', async () => {
    const { url } = shared;
    const rows = "INSERT INTO room SELECT n, repeat('x', 500) FROM generate_series(1, 2000) AS n";
    const size = "SELECT pg_relation_size('room') AS bytes";
    await query(url, 'CREATE TABLE room (n INT, filler TEXT)');
    await query(url, rows);
    const before = await query(url, size);
    for (let time = 0; time < 3; time++) {
      await query(url, 'DELETE FROM room');
      await query(url, 'VACUUM (TRUNCATE off) room');
      await query(url, rows);
    }
    expect(await query(url, size)).toEqual(before);
  });

  it('has its sockets elsewhere when the path of its directory is too long for one', async () => {
    const made = await embeddedDirectory('made');
    const dataDir = join(made, 'deep'.repeat(20), 'deeper'.repeat(10));
    cpSync(join(made, 'db'), join(dataDir, 'db'), { recursive: true });
    const embedded = await openHere(dataDir);
    const sockets = runDirectory(dataDir);
    expect(sockets).toMatch(/^\/tmp\/model-gateway-/);
    expect(await query(embedded.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    rmSync(sockets, { recursive: true });
  });
});

describe('clients that share the embedded database', () => {
  it('keep racing read-modify-write transactions exact through Prisma', async () => {
    const db = openDb(shared.url);
    const id = '019d0000-0000-7000-8000-000000000001';
    await db.prisma.workspace.create({ data: { id, slug: 'w', name: 'W' } });
    const addOne = () =>
      db.prisma.$transaction(
        async (tx) => {
          const rows = await tx.$queryRaw<{ balance_nano: bigint }[]>`
            SELECT balance_nano FROM workspace WHERE id = ${id}::uuid FOR UPDATE`;
          const balanceNano = (rows[0]?.balance_nano ?? 0n) + 1n;
          await tx.workspace.update({ where: { id }, data: { balanceNano } });
        },
        { maxWait: 60_000, timeout: 60_000 },
      );
    await Promise.all(Array.from({ length: 20 }, addOne));
    const workspace = await db.prisma.workspace.findUniqueOrThrow({ where: { id } });
    await db.close();
    expect(workspace.balanceNano).toBe(20n);
  });

  it('get their own answers when statements too big for one read interleave', async () => {
    const pool = new Pool({ connectionString: shared.url, max: 8 });
    const ask = async (letter: string) => {
      const { rows } = await pool.query(`SELECT $1::text AS said, '${letter}' AS who`, [
        letter.repeat(400_000),
      ]);
      return rows[0]?.who === letter && rows[0]?.said === letter.repeat(400_000);
    };
    const answers = await Promise.all(Array.from({ length: 48 }, (_, i) => ask('abcdefgh'.charAt(i % 8))));
    await pool.end();
    expect(answers.every(Boolean)).toBe(true);
  });

  it('wait for their turn to operate while another holds the session for longer than a server would take', async () => {
    const db = openDb(shared.url, { patient: true });
    const holder = new Client({ connectionString: shared.url });
    await holder.connect();
    await holder.query('BEGIN');
    const held = pause(7_000).then(() => holder.query('COMMIT'));
    const operated = transact(db, (store) => store.query('SELECT 1 AS one', []));
    expect(await operated).toEqual([{ one: 1 }]);
    await held;
    await holder.end();
    await db.close();
  });

  it('are not held up by one that left in the middle of a transaction', async () => {
    await query(shared.url, 'CREATE TABLE t (n INT)');
    const gone = new Client({ connectionString: shared.url });
    gone.on('error', () => undefined);
    await gone.connect();
    await gone.query('BEGIN');
    await gone.query('INSERT INTO t VALUES (1)');
    const waiting = query(shared.url, 'SELECT n FROM t');
    const left = gone.end();
    expect(await waiting).toEqual([]);
    await left;
  });
});
