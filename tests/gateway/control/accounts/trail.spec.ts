import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { UserActor } from '#lib/control/operations/actor';
import { mintInvitationLink } from '#lib/control/operations/invitation/link';
import { createInvitation } from '#lib/control/operations/invitation/operations';
import { operations } from '#lib/control/operations/operations';
import { runAny } from '#lib/control/operations/run';
import { renewOperatorLink } from '#lib/control/operations/user/first-operator';
import { mintToken, type TokenPurpose } from '#lib/control/operations/user/token';
import { enter, newcomer, newEmail, password, rules } from '#tests/gateway/control/accounts/people';
import { addMember, controlHost, operate } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

interface Person {
  readonly id: string;
  readonly actor: UserActor & { sessionId: string };
}

const wanted = 'another four random words';
const token =
  (purpose: TokenPurpose) =>
  async ({ id }: Person) => {
    const sql = { query: (text: string, values: unknown[]) => db.pool.query(text, values) };
    return { token: await mintToken(sql, 'pepper', { userId: id, purpose }) };
  };

/** Their workspace, with another owner. */
async function shared({ id }: Person) {
  const [own, other] = [
    await db.prisma.member.findFirstOrThrow({ where: { userId: id } }),
    await newcomer(db),
  ];
  await addMember(db, { workspace: own.workspaceId, email: other.email, role: 'owner' });
  return { workspace: own.workspaceId, member: other.id };
}

/** The link of an invitation of somebody else's. */
async function invited(email: string): Promise<{ token: string }> {
  const { slug } = await newcomer(db);
  const { id } = await operate(db, createInvitation, { workspace: slug, email, role: 'viewer' });
  const sql = { query: (text: string, values: unknown[]) => db.pool.query(text, values) };
  return { token: await mintInvitationLink(sql, 'pepper', { invitationId: id, kind: 'mail' }) };
}

/** What each of them is sent, by somebody who has signed up and in. */
const inputs: Readonly<Record<string, (person: Person) => Promise<Record<string, unknown>>>> = {
  'user.sign-up': async () => ({ email: newEmail(), password }),
  'user.first-operator': async () => {
    const link = await renewOperatorLink(db, 'pepper', null);
    return { token: link?.token, email: newEmail(), password };
  },
  'user.verify': token('verify'),
  'user.request-verification': async () => ({}),
  'user.request-reset': async () => ({ email: newEmail() }),
  'user.reset': async (person) => ({ ...(await token('reset')(person)), password: wanted }),
  'user.rename': async () => ({ name: 'Ann' }),
  'user.change-password': async () => ({ current: password, password: wanted }),
  'user.enter': async () => ({
    provider: 'github',
    subject: randomUUID(),
    email: newEmail(),
    emailVerified: true,
  }),
  'user.link': async () => ({ provider: 'github', subject: randomUUID() }),
  'user.unlink': async ({ id }) => {
    await db.prisma.linkedAccount.create({ data: { provider: 'google', subject: randomUUID(), userId: id } });
    return { provider: 'google' };
  },
  'session.start': async () => ({
    id: randomUUID(),
    version: 1,
    method: 'password',
    endsAt: new Date(Date.now() + 60_000).toISOString(),
  }),
  'session.end': async ({ actor }) => ({ id: actor.sessionId }),
  'session.end-all': async () => ({}),
  'workspace.open': async () => ({ name: 'Lab' }),
  'member.leave': async (person) => ({ workspace: (await shared(person)).workspace }),
  'member.transfer': shared,
  'invitation.accept': async ({ id }) =>
    invited((await db.prisma.user.findUniqueOrThrow({ where: { id } })).email),
  'invitation.join': async () => ({ ...(await invited(newEmail())), password }),
};

const own = operations.filter(({ kind, reach }) => kind !== 'read' && reach === 'self');

it.each(own)(
  '$name leaves one audit row with what differs and no secret (contract: control-plane/audit)',
  async (operation) => {
    const { id } = await newcomer(db);
    const person = { id, actor: await enter(db, id) };
    const input = (await inputs[operation.name]?.(person)) ?? {};
    const host = { ...controlHost(db), accounts: rules };
    const before = await db.prisma.audit.findMany({ where: { action: operation.name } });
    await runAny(host, operation, { actor: person.actor, input });
    const rows = await db.prisma.audit.findMany({ where: { action: operation.name } });
    const added = rows.filter((row) => !before.some((one) => one.id === row.id));
    expect(added).toMatchObject([{ actor: id, address: '192.0.2.7', subject: expect.stringMatching(/./) }]);
    const said = JSON.stringify(added);
    for (const secret of [password, wanted, String(input.token ?? password)])
      expect(said).not.toContain(secret);
  },
);
