import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { setConsoleHost } from '#lib/console/host';
import { checkCatalogue } from '#lib/control/catalogue/files';
import type { Operation } from '#lib/control/operations/declare';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { operations } from '#lib/control/operations/operations';
import type { SessionUser } from '#lib/control/operations/user/authenticate';
import { may, type Role, roles } from '#lib/core/role';
import { type Db, openDb } from '#lib/platform/data/db';
import { InProcessThrottle } from '#lib/platform/throttle/in-process';
import {
  apiOf,
  type Verdict,
  verdictOfAction,
  verdictOfApi,
  verdictOfLine,
} from '#tests/support/control/adapters';
import { logCall } from '#tests/support/control/log-call';
import { addMember, controlHost, createKey, createWorkspace, operate } from '#tests/support/control/operate';
import { sampleOf } from '#tests/support/control/sample';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { applySet } from '#tests/support/provider/apply-set';
import { startPayments } from '#tests/support/stripe/payments';

// What a server action knows of its request: Next gives it only while it serves one. Neither this file nor the next one
// of this worker has modules of the other.
const session = vi.hoisted((): { user: SessionUser | null } => {
  vi.resetModules();
  return { user: null };
});
afterAll(() => {
  vi.resetModules();
});
vi.mock('next/headers', () => ({ headers: async () => new Headers() }));
vi.mock('#lib/console/session', () => ({
  findUser: async () => session.user,
  requireUser: async () => session.user,
}));

interface Place {
  readonly id: string;
  readonly slug: string;
  readonly tokens: Record<Role, string>;
  readonly users: Record<Role, SessionUser>;
}

let database: TestDatabase;
let db: Db;
let stripe: Awaited<ReturnType<typeof startPayments>>;
let own: Place;
let other: Place;
let suspended: Place;
let operatorToken: string;
let inferenceKey: string;
let revokedToken: string;
let leaversToken: string;
let operatorUser: SessionUser;
/** Was an owner once. */
let removedUser: SessionUser;
/** Of no workspace. */
let strangeUser: SessionUser;

const host = () => ({ ...controlHost(db), ...stripe });

async function user(operator = false): Promise<SessionUser> {
  const id = randomUUID();
  const email = `${id}@example.com`;
  await db.prisma.user.create({ data: { id, email, operator } });
  const sessionId = randomUUID();
  const endsAt = new Date(Date.now() + 3_600_000);
  await db.prisma.session.create({
    data: { id: sessionId, userId: id, version: 1, method: 'password', endsAt },
  });
  return { id, email, name: null, operator, verified: true, sessionId };
}

const catalogue = `
providers: [{ id: one, name: One, families: { chat: "http://127.0.0.1:1/v1" }, credential: { env: ONE_KEY } }]
models:
  - { id: openai/gpt-4.1, name: M, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: one, upstreamModel: m, families: [chat], price: { input: "2" } }] }
`;

async function place(): Promise<Place> {
  const { id, slug } = await createWorkspace(db, { name: 'Matrix', credit: '10' });
  const tokens: Partial<Record<Role, string>> = {};
  const users: Partial<Record<Role, SessionUser>> = {};
  for (const role of roles) {
    const made = await operate(db, createManagementKey, { workspace: slug, name: role, role });
    tokens[role] = made.key;
    const one = await user();
    users[role] = one;
    await db.prisma.member.create({ data: { workspaceId: id, userId: one.id, role } });
  }
  await logCall(db.pool, randomUUID(), id);
  return { id, slug, tokens: tokens as Place['tokens'], users: users as Place['users'] };
}

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  stripe = await startPayments();
  await applySet(db, checkCatalogue([{ name: 'matrix.yaml', text: catalogue }]));
  [own, other, suspended] = [await place(), await place(), await place()];
  await db.prisma.workspace.update({ where: { id: suspended.id }, data: { suspendedAt: new Date() } });
  operatorToken = (await operate(db, createManagementKey, { name: 'ops', operator: true })).key;
  const revoked = await operate(db, createManagementKey, { workspace: own.slug, name: 'was', role: 'owner' });
  await db.prisma.managementKey.update({ where: { id: revoked.id }, data: { revokedAt: new Date() } });
  revokedToken = revoked.key;
  [removedUser, strangeUser] = [await user(), await user()];
  const leavers = await operate(db, createManagementKey, {
    workspace: own.slug,
    name: 'left',
    role: 'owner',
  });
  await db.prisma.managementKey.update({ where: { id: leavers.id }, data: { createdBy: removedUser.id } });
  leaversToken = leavers.key;
  await addMember(db, { workspace: own.slug, email: removedUser.email, role: 'owner' });
  // As the roll-back of a copy would: the row is gone, and nothing else was done.
  await db.prisma.member.deleteMany({ where: { userId: removedUser.id } });
  inferenceKey = (await createKey(db, { workspace: own.slug, name: 'web' })).key;
  operatorUser = await user(true);
  setConsoleHost({
    control: host(),
    env: { publicUrl: 'http://localhost', authSecrets: ['secret'] },
    throttle: new InProcessThrottle(() => 0),
    report: (error) => console.error(error),
  });
});
afterAll(async () => {
  await stripe.close();
  setConsoleHost(null);
  await db.close();
  await database.drop();
});

/** What the declaration promises to a role; `null` is nobody's role: somebody of another workspace. */
function promised(operation: Operation, role: Role | 'operator' | null, stopped = false): Verdict {
  const verdict = permitted(operation, role, stopped);
  // The samples are shared views of an operator.
  if (verdict === 'allowed' && ofAuthors.includes(operation.name) && role === 'developer') return 'denied';
  return verdict === 'allowed' && guarded.includes(operation.name) ? 'refused' : verdict;
}

/** The same without a person behind the caller: a key that an operator made, or the command line. */
function promisedToPrograms(...asked: Parameters<typeof promised>): Verdict {
  const verdict = promised(...asked);
  return verdict === 'allowed' && ofPeople.includes(asked[0].name) ? 'refused' : verdict;
}

function permitted(
  { reach, permission, kind }: Operation,
  role: Role | 'operator' | null,
  stopped: boolean,
): Verdict {
  if (role === 'operator') return 'allowed';
  if (reach === 'self') return 'allowed';
  if (reach === 'gateway') return 'denied';
  if (role === null) return 'no workspace';
  if (permission === null) return 'allowed';
  return may(role, permission) && !(stopped && kind !== 'read') ? 'allowed' : 'denied';
}

/** Those of which a developer may change only what is their own. */
const ofAuthors: readonly string[] = ['view.rename', 'view.delete'];

/** Those that people ask for themselves. */
const ofPeople: readonly string[] = ['view.subscribe'];

/** Those that want a word typed which no sample has: whoever may is asked for it, nobody else. */
const guarded: readonly string[] = ['workspace.delete'];

/** Who was asked for what, in this file. */
let cells = 0;
const counted = (verdict: Verdict) => {
  cells += 1;
  return verdict;
};

const trail = () => db.prisma.audit.count();

describe.each(operations)('$name', (operation) => {
  const samples = new Map<string, Record<string, unknown>>();
  const sample = async (slug: string) => {
    const input = samples.get(slug) ?? (await sampleOf(host(), operation, slug)).input;
    samples.set(slug, input);
    return input;
  };
  /** What a mutation was allowed to do to the thing may have ended it: the next caller gets another one. */
  const used = (verdict: Verdict, slug: string) => {
    counted(verdict);
    if (verdict === 'allowed' && operation.kind !== 'read') samples.delete(slug);
    return verdict;
  };

  it.each(operation.http)('is given by $method $path to whom its declaration says', async (address) => {
    const api = apiOf(host());
    const named = address.path.includes('{workspace}');
    const ask = async (token: string | null, { slug }: Place) => {
      const input = await sample(slug);
      // A key that an operator makes of no workspace is one of the operator.
      const ofOperator = token === operatorToken && !named && 'role' in input;
      const given = ofOperator ? { name: 'ops', operator: true } : input;
      return used(verdictOfApi(await api(token, operation, address, slug, given)), slug);
    };
    for (const role of roles) {
      expect(await ask(own.tokens[role], own), role).toBe(promisedToPrograms(operation, role));
    }
    for (const where of named ? [own, suspended] : [own]) {
      expect(await ask(operatorToken, where)).toBe(promisedToPrograms(operation, 'operator'));
    }
    await sample(own.slug);
    await sample(suspended.slug);
    const before = await trail();
    expect(await ask(null, own)).toBe('no credential');
    // Such a key belongs to /v1: a path that is served there is named instead.
    const elsewhere = /^\/models(\/|$)/.test(address.path);
    // Where it is accepted, it is for calls that it made.
    const notFound = elsewhere || operation.apiKeys === true;
    expect(await ask(inferenceKey, own)).toBe(notFound ? 'not found' : 'no credential');
    expect(await ask(revokedToken, own)).toBe('bad credential');
    expect(await ask(leaversToken, own), 'made by who has left').toBe('bad credential');
    for (const role of named ? roles : []) {
      expect(await ask(other.tokens[role], own), `${role} of another`).toBe(
        promisedToPrograms(operation, null),
      );
    }
    for (const role of roles.filter((one) => promisedToPrograms(operation, one) === 'denied')) {
      await ask(own.tokens[role], own);
    }
    for (const role of roles) {
      const stopped = await ask(suspended.tokens[role], suspended);
      expect(stopped, `${role}, suspended`).toBe(promisedToPrograms(operation, role, true));
    }
    expect(await trail(), 'rows of those who may not').toBe(before);
  });

  it('is given by a server action to whom its declaration says', async () => {
    const ask = async (who: SessionUser | null, { slug }: Place) => {
      const input = await sample(slug);
      session.user = who;
      return used(await verdictOfAction(operation, slug, input), slug);
    };
    if (operation.reach === 'self') return;
    expect(await ask(null, own)).toBe('no credential');
    for (const role of roles) {
      expect(await ask(own.users[role], own), role).toBe(promised(operation, role));
    }
    for (const role of roles) {
      const stopped = await ask(suspended.users[role], suspended);
      expect(stopped, `${role}, suspended`).toBe(promised(operation, role, true));
    }
    for (const role of roles) {
      expect(await ask(other.users[role], own), `${role} of another`).toBe(promised(operation, null));
    }
    expect(await ask(removedUser, own), 'removed').toBe(promised(operation, null));
    expect(await ask(strangeUser, own), 'of no workspace').toBe(promised(operation, null));
    for (const where of operation.reach === 'gateway' ? [own] : [own, suspended]) {
      expect(await ask(operatorUser, where), where.slug).toBe(promised(operation, 'operator'));
    }
  });

  if (operation.line !== null) {
    it('is given by the command line, which acts for the operator', async () => {
      for (const { slug } of [own, suspended]) {
        const verdict = await verdictOfLine(host(), operation, slug, await sample(slug));
        expect(used(verdict, slug)).toBe(promisedToPrograms(operation, 'operator'));
      }
    });
  }

  const ids =
    operation.reach !== 'self' &&
    operation.reach !== 'gateway' &&
    Object.values(operation.fields).some(({ kind, required }) => kind === 'id' && required);
  if (!ids) return;
  it('does not find a thing of another workspace by its id, and changes nothing', async () => {
    const theirs = await sample(other.slug);
    const before = await trail();
    const api = apiOf(host());
    for (const address of operation.http) {
      const answer = await api(own.tokens.owner, operation, address, own.slug, theirs);
      expect(counted(verdictOfApi(answer))).toBe('not found');
    }
    session.user = own.users.owner;
    expect(counted(await verdictOfAction(operation, own.slug, theirs))).toBe('not found');
    expect(await trail()).toBe(before);
  });
});

it('has with the pages, which tests/console/roles asks, at least 5,000 cells', () => {
  expect(cells).toBeGreaterThan(4_400);
});
