import { afterAll, beforeAll, expect, it } from 'vitest';
import { openOutboxOf } from '#lib/control/mail/open-outbox';
import { requestReset } from '#lib/control/operations/user/reset';
import { type Db, openDb } from '#lib/platform/data/db';
import { asks, newcomer } from '#tests/gateway/control/accounts/people';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { type MailServer, startMailServer, textOf } from '#tests/support/mail/server';

let database: TestDatabase;
let db: Db;
let server: MailServer;
beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  server = await startMailServer();
});
afterAll(async () => {
  await server.close();
  await db.close();
  await database.drop();
});

const publicUrl = 'https://gateway.example';
const open = (mailFrom: string | null, errors: unknown[] = []) =>
  openOutboxOf({ smtpUrl: server.url, mailFrom, keyPepper: 'pepper' }, db, {
    publicUrl,
    report: (error) => errors.push(error),
  });

it('mail goes to a server by SMTP, in text and HTML, from whom it is said (contract: control-plane/mail)', async () => {
  const { email } = await newcomer(db);
  const outbox = open(null);
  await expect.poll(() => server.mails.length).toBe(1);
  await outbox.stop();
  const [mail] = server.mails;
  if (!mail) throw new Error('no mail came');
  expect(mail).toMatchObject({ to: [email], from: expect.stringContaining('<no-reply@gateway.example>') });
  expect(mail.raw).toMatch(/^From: Model Gateway <no-reply@gateway\.example>\r$/m);
  expect(mail.raw).toMatch(/^Subject: Verify your email address\r$/m);
  expect(mail.raw).toMatch(/multipart\/alternative/);
  expect(textOf(mail)).toMatch(/https:\/\/gateway\.example\/verify\?token=[\w-]{43}\s/);
});

it('what a server refuses is tried again when it takes mail', async () => {
  server.mails.length = 0;
  const { email } = await newcomer(db);
  await asks(db, requestReset, { email });
  server.refuse('451 try later');
  const errors: unknown[] = [];
  const outbox = open('ops@gateway.example', errors);
  await expect.poll(() => errors.length).toBeGreaterThanOrEqual(2);
  server.refuse(null);
  await db.pool.query(`UPDATE mail SET next_try_at = now() - interval '1 s' WHERE next_try_at IS NOT NULL`);
  outbox.wake();
  await expect.poll(() => server.mails.length).toBe(2);
  await outbox.stop();
  expect(server.mails.map(({ from }) => from)).toEqual(
    Array(2).fill(expect.stringContaining('<ops@gateway.example>')),
  );
  expect(String(errors[0])).toMatch(/451 try later/);
});
