import { randomBytes, randomUUID } from 'node:crypto';
import { encode } from 'next-auth/jwt';
import { type BrowserContext, test as base, type Page } from 'playwright/test';
import { type Db, openDb } from '#lib/platform/data/db';
import { waitForScripts } from '#tests/console/interactive';
import { inDatabase, started } from '#tests/console/visit';
import { addMember, createKey, createWorkspace } from '#tests/support/control/operate';
import { secrets } from '#tests/support/shared/attach';

export interface Person {
  readonly id: string;
  readonly email: string;
}

/** The test's own workspace with $100, and its owner, who is signed in in the test's browser. */
export interface Home {
  readonly id: string;
  readonly slug: string;
  readonly owner: Person;
}

interface Fixtures {
  readonly home: Home;
}

interface WorkerFixtures {
  /** The gateway's own database. */
  readonly db: Db;
}

/** Tests run in parallel: each changes only its own workspace and people. */
export const test = base.extend<Fixtures, WorkerFixtures>({
  db: [
    async ({ browserName: _ }, use) => {
      const db = openDb(started('DATABASE_URL'), { max: 2 });
      await use(db);
      await db.close();
    },
    { scope: 'worker' },
  ],
  context: async ({ context }, use) => {
    context.on('page', waitForScripts);
    await use(context);
  },
  home: async ({ context, db }, use) => {
    const home = await makeHome(db);
    await enter(context, home.owner);
    await use(home);
  },
});

export async function makeHome(db: Db): Promise<Home> {
  const name = `Home ${randomBytes(4).toString('hex')}`;
  const { id, slug } = await createWorkspace(db, { name, credit: '100' });
  return { id, slug, owner: await addPerson(db, slug, 'owner') };
}

/** Creates a verified user with the demo user's password, as a member of the workspace. */
export async function addPerson(db: Db, workspace: string, role: string): Promise<Person> {
  const person = { id: randomUUID(), email: `${role}@${workspace}.example` };
  // Hashing a password costs more than everything else that a test needs.
  const known = await db.prisma.user.findUniqueOrThrow({ where: { email: started('EMAIL') } });
  const emailVerifiedAt = new Date();
  await db.prisma.user.create({ data: { ...person, emailVerifiedAt, passwordHash: known.passwordHash } });
  await addMember(db, { workspace, email: person.email, role });
  return person;
}

/** The secret that signs the cookies of the gateway's sessions. */
export function sessionSecret(): string {
  return secrets.NEXTAUTH_SECRET;
}

/** Creates a key without the console's form. @returns its secret. */
export async function makeKey(db: Db, { slug }: Home, name: string): Promise<string> {
  return (await createKey(db, { workspace: slug, name }, secrets.KEY_PEPPER)).key;
}

/** Gives the browser the session that it would get by signing in. */
export async function enter(context: BrowserContext, person: Person): Promise<void> {
  const value = await sessionOf(person);
  await context.addCookies([{ name: sessionCookie, value, url: started('URL'), httpOnly: true }]);
}

export const sessionCookie = 'next-auth.session-token';

/** Creates a session, as signing in would. @returns its cookie's value. */
export async function sessionOf(person: Person): Promise<string> {
  const endsAtMs = Date.now() + 24 * 3_600_000;
  const session = { userId: person.id, sessionId: randomUUID(), endsAtMs };
  await inDatabase(
    `INSERT INTO session (id, user_id, version, method, ends_at)
     VALUES ('${session.sessionId}', '${person.id}', 1, 'password', now() + interval '1 day')`,
  );
  return encode({ token: session, secret: sessionSecret() });
}

/** Opens the list of keys of a workspace. */
export async function openKeys(page: Page, { slug }: Home): Promise<void> {
  await page.goto(`/${slug}/keys`);
}
