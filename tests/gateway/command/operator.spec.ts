import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Db, openDb } from '#lib/platform/data/db';
import { type CommandLine, commandLine } from '#tests/support/command';
import { createDatabase, type TestDatabase } from '#tests/support/database';

let database: TestDatabase;
let db: Db;
let gateway: CommandLine;

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  gateway = commandLine(database.url, { SANDBOX: 'on' });
  await gateway.json('workspace', 'create', '--name', 'Acme');
});
afterAll(async () => {
  gateway.close();
  await db.close();
  await database.drop();
});

describe('the command line of an operator', () => {
  it('counts the simulated provider in, which the server starts', async () => {
    await gateway.run('catalogue', 'apply', 'catalogue/sandbox.yaml');
    const found = await gateway.json<{ candidates: { provider: string }[]; failure: unknown }>(
      ...['route', 'explain', '--workspace', 'acme', '--model', 'sandbox/echo'],
    );
    expect(found.candidates.map((one) => one.provider)).toEqual(['sandbox']);
    expect(found.failure).toBeNull();
  });

  it('writes out what would steer the terminal in a text of a stranger', async () => {
    const name = 'a\u001b[31mred\nb\u202ec';
    const { id } = await gateway.json<{ id: string }>('key', 'create', '--workspace', 'acme', '--name', 'a');
    // No verb takes such a name; the database may hold one all the same.
    await db.pool.query('UPDATE api_key SET name = $1 WHERE id = $2', [name, id]);
    const shown = await gateway.run('key', 'show', id);
    expect(shown.out).toContain('a\\u{1b}[31mred\\u{a}b\\u{202e}c');
    for (const steering of ['\u001b', '\u202e']) expect(shown.out).not.toContain(steering);
    expect(await gateway.json('key', 'show', id)).toMatchObject({ name });
  });

  it('refuses a credit that no ledger could hold, in words, and lets the balance come back', async () => {
    const add = (amount: string) => gateway.run('credit', 'add', 'acme', amount, '--reason', 'test');
    for (let n = 0; n < 4; n += 1) expect((await add('1000000000')).exit).toBe(0);
    expect(await add('0.000000001')).toMatchObject({
      exit: 1,
      err: 'a balance must be between -4000000000 and 4000000000 dollars\n',
    });
    for (let n = 0; n < 4; n += 1) expect((await add('-1000000000')).exit).toBe(0);
    expect(await gateway.json('workspace', 'show', 'acme')).toMatchObject({ balance: '0' });
  });

  it('reports the journal records that were set aside, which the ledger cannot show', async () => {
    const journal = join(gateway.dir, 'journal');
    const file = '01a202c9-0483-733b-9edb-1a7b349a9998.damaged';
    mkdirSync(journal, { recursive: true });
    const damage = {
      file: 'x-1.log',
      atByte: 4,
      callId: 'a-call',
      record: 'close',
      foundAt: '',
      bytes: 'AA==',
    };
    writeFileSync(join(journal, file), `${JSON.stringify(damage)}\nan unreadable line\n`);
    expect(await gateway.json('ledger', 'verify')).toMatchObject({
      ok: true,
      setAside: [
        { kind: 'damaged', file, callId: 'a-call', record: 'close' },
        { kind: 'damaged', file, callId: null, record: null },
      ],
    });
    const ran = await gateway.run('ledger', 'verify');
    expect(ran.out).toContain(`SET ASIDE close of call a-call: damaged; its bytes are in journal/${file}`);
    expect(ran.exit).toBe(0);
    rmSync(journal, { recursive: true });
  });

  it('makes nobody an operator by a word that is neither on nor off', async () => {
    const ran = await gateway.run(
      ...['user', 'create', '--email', 'a@example.com', '--password', 'long enough', '--operator', 'yes'],
    );
    expect(ran).toMatchObject({ exit: 1, err: expect.stringContaining('--operator: must be on or off') });
  });
});
