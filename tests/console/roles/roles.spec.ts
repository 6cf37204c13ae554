import { randomUUID } from 'node:crypto';
import { expect } from 'playwright/test';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { may, type Role, roles } from '#lib/core/role';
import type { Db } from '#lib/platform/data/db';
import { addPerson, type Home, makeHome, makeKey, sessionCookie, sessionOf, test } from '#tests/console/home';
import { type Admits, admitted, leading, routesOfSource } from '#tests/console/roles/routes';
import { callGateway, inDatabase, started } from '#tests/console/visit';
import { addMember, operate, removeMember } from '#tests/support/control/operate';

type Verdict = 'shown' | 'sign in' | 'led on' | 'not found';

/** A client: with a role in the workspace, in another one, or in none. */
interface Actor {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly role: Role | null;
  readonly user: 'nobody' | 'program' | 'user' | 'operator';
}

/** A result that a page streams after its head is only in its body, because the status is 200 by then. */
async function verdictOf(answer: Response): Promise<Verdict> {
  const { status, url } = answer;
  // Even if the head decides: an unread answer keeps its connection.
  const body = await answer.text();
  if (status === 401) return 'sign in';
  if (status === 404) return 'not found';
  const location = answer.headers.get('location');
  if (location !== null) return location.includes('/sign-in') ? 'sign in' : 'led on';
  if (/NEXT_HTTP_ERROR_FALLBACK;404/.test(body)) return 'not found';
  const led = /NEXT_REDIRECT;\w+;([^;]*);/.exec(body)?.[1];
  if (led !== undefined) return led.includes('/sign-in') ? 'sign in' : 'led on';
  expect([url, status]).toEqual([url, 200]);
  return 'shown';
}

function promised(address: string, admits: Admits, { name, user, role }: Actor): Verdict {
  // A request with an API key is a program's, and there are no pages for programs
  // (contract: request/json-for-programs), except the list of models without its version (contract: request/addresses).
  if (user === 'program') return address.startsWith('/models') ? 'shown' : 'not found';
  const admitted = leading.includes(address) ? 'led on' : 'shown';
  if (admits === 'anybody') return admitted;
  if (admits === 'not signed in') return user === 'nobody' ? 'shown' : 'led on';
  if (user === 'nobody') return 'sign in';
  // To the first workspace, if there is one.
  if (address === '/') return user === 'operator' || name === 'removed member' ? 'shown' : 'led on';
  if (admits === 'content of an active workspace') {
    const reads = role !== null && may(role, 'content:read') && !name.endsWith('of a suspended workspace');
    return reads ? 'shown' : 'not found';
  }
  if (admits === 'signed in' || user === 'operator') return admitted;
  if (admits === 'operator') return 'not found';
  return role !== null && may(role, admits) ? 'shown' : 'not found';
}

/** Things that pages of one key or call show. */
interface Kept {
  readonly key: string;
  readonly keyId: string;
  readonly callId: string;
}

async function keep(db: Db, home: Home): Promise<Kept> {
  const key = await makeKey(db, home, 'web');
  const { id: keyId } = await db.prisma.apiKey.findFirstOrThrow({ where: { workspaceId: home.id } });
  const callId = (await callGateway(key)).headers.get('x-request-id') ?? '';
  const logged = async () => db.pool.query('SELECT 1 FROM call WHERE id = $1', [callId]);
  await expect.poll(async () => (await logged()).rowCount).toBe(1);
  return { key, keyId, callId };
}

test('every page and route in the source is listed with the roles that it admits', () => {
  expect(Object.keys(admitted).sort()).toEqual(routesOfSource());
});

test('every page and route admits the listed roles and is not found for others', async ({ db }) => {
  const [own, other, suspended] = [await makeHome(db), await makeHome(db), await makeHome(db)];
  const [kept, keptSuspended] = [await keep(db, own), await keep(db, suspended)];
  await inDatabase(`UPDATE workspace SET suspended_at = now() WHERE id = '${suspended.id}'`);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const cookie = async (person: { id: string; email: string }) => ({
    cookie: `${sessionCookie}=${await sessionOf(person)}`,
  });
  const operator = { id: randomUUID(), email: `operator@${own.slug}.example` };
  await db.prisma.user.create({ data: { ...operator, operator: true } });
  const management = await operate(db, createManagementKey, {
    workspace: own.slug,
    name: 'ci',
    role: 'owner',
  });
  const actors: Actor[] = [
    { name: 'anonymous', headers: {}, role: null, user: 'nobody' },
    { name: 'inference key', headers: bearer(kept.key), role: null, user: 'program' },
    { name: 'management key', headers: bearer(management.key), role: null, user: 'nobody' },
    { name: 'owner of another workspace', headers: await cookie(other.owner), role: null, user: 'user' },
    { name: 'operator', headers: await cookie(operator), role: null, user: 'operator' },
  ];
  for (const role of roles) {
    const person = role === 'owner' ? own.owner : await addPerson(db, own.slug, role);
    actors.push({ name: role, headers: await cookie(person), role, user: 'user' });
  }
  const removed = { id: randomUUID(), email: `removed@${own.slug}.example` };
  await db.prisma.user.create({ data: removed });
  await addMember(db, { workspace: own.slug, email: removed.email, role: 'admin' });
  await removeMember(db, { workspace: own.slug, member: removed.email });
  actors.push({ name: 'removed member', headers: await cookie(removed), role: null, user: 'user' });
  const owner: Actor = {
    name: 'owner of a suspended workspace',
    role: 'owner',
    user: 'user',
    headers: await cookie(suspended.owner),
  };
  const wrong: string[] = [];
  let cells = 0;
  for (const [address, admits] of Object.entries(admitted)) {
    const at = ({ slug }: Home, { keyId, callId }: Kept) =>
      address
        .replace('[workspace]', slug)
        .replace('[slug]', slug)
        .replace('[key]', keyId)
        .replace('[call]', callId)
        .replace('[month]', '2026-01')
        .replace('[provider]', 'sandbox')
        .replace('[page]', 'quickstart')
        .replace('[...slug]', 'sandbox/echo')
        // Only one of its rows: thousands of elements take the processor time of ten other pages.
        .replace(/\/models$/, '/models?search=echo')
        .replace(/\/logs\/new$/, '/logs/new?since=2026-01-01T00:00:00Z');
    const asked = [
      ...actors.map((actor) => ({ actor, path: at(own, kept) })),
      { actor: owner, path: at(suspended, keptSuspended) },
    ];
    await Promise.all(
      asked.map(async ({ actor, path }) => {
        const verdict = await verdictOf(
          await fetch(started('URL') + path, { headers: actor.headers, redirect: 'manual' }),
        );
        cells += 1;
        const expected = promised(address, admits, actor);
        if (verdict !== expected) wrong.push(`${address}, ${actor.name}: ${verdict}, not ${expected}`);
      }),
    );
  }
  expect(wrong).toEqual([]);
  expect(cells).toBe(Object.keys(admitted).length * 12);
});
