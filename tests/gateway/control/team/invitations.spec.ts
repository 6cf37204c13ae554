import { describe, expect, it } from 'vitest';
import { composeMail } from '#lib/control/mail/compose';
import {
  acceptInvitation,
  joinByInvitation,
  showInvitationByLink,
} from '#lib/control/operations/invitation/accept';
import {
  cancelInvitation,
  createInvitation,
  linkInvitation,
  listInvitations,
  resendInvitation,
} from '#lib/control/operations/invitation/operations';
import { listMembers } from '#lib/control/operations/member/operations';
import { listOwnWorkspaces } from '#lib/control/operations/user/own';
import { confirmUser } from '#lib/control/operations/user/verify';
import { asks, newcomer, newEmail, password, refusalOf } from '#tests/gateway/control/accounts/people';
import { createWorkspace, operate, removeMember, setMember } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

const as = (userId: string) => ({ kind: 'user' as const, userId, operator: false, address: '192.0.2.7' });

/** Somebody with a workspace of their own. */
async function newHome() {
  const owner = await newcomer(db);
  await db.prisma.user.update({ where: { id: owner.id }, data: { emailVerifiedAt: new Date() } });
  return { slug: owner.slug, owner };
}
type Home = Awaited<ReturnType<typeof newHome>>;

const invite = ({ slug, owner }: Home, email: string, role = 'developer', by = owner.id) =>
  operate(db, createInvitation, { workspace: slug, email, role }, 'pepper', as(by));

/** The tokens of the letters that lie in the outbox for an address; each is a letter of its own. */
async function tokensFor(email: string): Promise<string[]> {
  const mails = await db.prisma.mail.findMany({ where: { recipient: email, kind: 'invitation' } });
  const host = { db, keyPepper: 'pepper', publicUrl: 'https://gateway.example' };
  const letters = await Promise.all(
    mails.map(({ id, kind, recipient, facts }) => {
      const known = { invitation: (facts as { invitation: string }).invitation };
      return composeMail(host, { id, kind, recipient, facts: known });
    }),
  );
  return letters.flatMap((letter) => letter?.link?.split('/invite?token=')[1] ?? []);
}

async function linkFor(email: string): Promise<string> {
  const [token] = await tokensFor(email);
  if (token === undefined) throw new Error('no letter');
  return token;
}

const tokenIn = ({ path }: { path: string }) => path.split('/invite?token=')[1] ?? '';
const join = (token: string) => asks(db, joinByInvitation, { token, password });
const accept = (token: string, userId: string) => asks(db, acceptInvitation, { token }, as(userId));
const membersOf = (slug: string, email: string) =>
  db.prisma.member.findMany({ where: { workspace: { slug }, user: { email } }, select: { role: true } });

describe('invitations (contract: control-plane/invitations)', () => {
  it('make an account of the address, verified, and a member of it, once', async () => {
    const home = await newHome();
    const email = newEmail();
    await invite(home, email.toUpperCase(), 'billing');
    const token = await linkFor(email);
    expect(await asks(db, showInvitationByLink, { token })).toMatchObject({
      email,
      role: 'billing',
      inviter: home.owner.email,
      account: false,
    });
    expect(await join(token)).toMatchObject({ email, slug: home.slug, role: 'billing' });
    expect(await membersOf(home.slug, email)).toEqual([{ role: 'billing' }]);
    const user = await db.prisma.user.findUniqueOrThrow({ where: { email } });
    expect(user.emailVerifiedAt).not.toBeNull();
    expect(await refusalOf(join(token))).toContain('was already accepted');
    const [row] = await db.prisma.audit.findMany({ where: { action: 'invitation.join', subject: user.id } });
    expect(row).toMatchObject({
      actor: 'anonymous',
      address: '192.0.2.7',
      after: { email, role: 'billing' },
    });
    expect(JSON.stringify(row)).not.toContain(token);
  });

  it('are for their address alone: another account cannot take one, its own can', async () => {
    const home = await newHome();
    const [invited, stranger] = [await newcomer(db), await newcomer(db)];
    await invite(home, invited.email);
    const token = await linkFor(invited.email);
    expect(await refusalOf(accept(token, stranger.id))).toContain(`is for ${invited.email}`);
    expect(await refusalOf(join(token))).toContain('has an account');
    expect(await accept(token, invited.id)).toMatchObject({ slug: home.slug, role: 'developer' });
    const { data } = await operate(db, listOwnWorkspaces, {}, 'pepper', as(invited.id));
    expect(data.map(({ slug }) => slug).sort()).toEqual([home.slug, invited.slug].sort());
  });

  it('are kept as a hash, and stop with a later mail, a cancellation and their seven days', async () => {
    const home = await newHome();
    const email = newEmail();
    const { id } = await invite(home, email);
    const first = await linkFor(email);
    const [row] = await db.prisma.invitationLink.findMany({ where: { invitationId: id } });
    expect(Buffer.from(row?.hash ?? []).toString()).not.toContain(first);
    const again = { workspace: home.slug, id };
    expect(await refusalOf(invite(home, email))).toContain('already invited');
    await operate(db, resendInvitation, again);
    expect(await refusalOf(join(first))).toContain('replaced by a later one');
    const second = await linkFor(email);
    await db.prisma.invitation.update({ where: { id }, data: { expiresAt: new Date(Date.now() - 1000) } });
    expect(await refusalOf(join(second))).toContain('has expired');
    expect((await operate(db, resendInvitation, again)).state).toBe('open');
    const third = await linkFor(email);
    await operate(db, cancelInvitation, again);
    expect(await refusalOf(join(third))).toContain('was canceled');
    expect(await tokensFor(email)).toEqual([]);
    expect((await operate(db, listInvitations, { workspace: home.slug })).data).toEqual([]);
    const all = await operate(db, listInvitations, { workspace: home.slug, all: true });
    expect(all.data).toMatchObject([{ id, state: 'cancelled', invitedBy: home.owner.email }]);
    await invite(home, email);
  });

  it('are sorted and searched page by page, each once, and so are members (contract: control-plane/console-tables)', async () => {
    const home = await newHome();
    const workspace = home.slug;
    const marks = ['c', 'a', 'd', 'b', 'e'];
    for (const mark of marks) await invite(home, `${mark}mark-${newEmail()}`);
    const read = async (input: Record<string, unknown>) => {
      const seen: string[] = [];
      for (let next: string | null = ''; next !== null; ) {
        const from = next === '' ? {} : { after: next };
        const page: Awaited<ReturnType<typeof pageOf>> = await pageOf({
          workspace,
          limit: 2,
          ...input,
          ...from,
        });
        seen.push(...page.data.map(({ email }) => email.slice(0, 1)));
        next = page.next;
      }
      return seen;
    };
    const pageOf = (input: Record<string, unknown>) => operate(db, listInvitations, input);
    expect(await read({ sort: 'email' })).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(await read({ sort: '-email' })).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect((await read({})).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(await read({ search: 'DMARK' })).toEqual(['d']);
    const found = (search: string) => operate(db, listMembers, { workspace, search });
    expect((await found(home.owner.email.slice(0, 8).toUpperCase())).data).toHaveLength(1);
    expect((await found('nobody like this')).data).toEqual([]);
  });

  it('can be copied: the link ends earlier ones, and does not verify the account (contract: control-plane/copied-links)', async () => {
    const home = await newHome();
    const email = newEmail();
    const { id } = await invite(home, email);
    const mailed = await linkFor(email);
    const copy = () => operate(db, linkInvitation, { workspace: home.slug, id }, 'pepper', as(home.owner.id));
    const first = tokenIn(await copy());
    expect(await refusalOf(join(mailed))).toContain('replaced by a later one');
    const second = tokenIn(await copy());
    expect(await refusalOf(join(first))).toContain('replaced by a later one');
    expect(await join(second)).toMatchObject({ email, slug: home.slug, role: 'developer' });
    const verified = async () =>
      (await db.prisma.user.findUniqueOrThrow({ where: { email } })).emailVerifiedAt !== null;
    expect(await verified()).toBe(false);
    const rows = await db.prisma.audit.findMany({ where: { action: 'invitation.link', subject: id } });
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain(second);
    expect(await operate(db, confirmUser, { email })).toMatchObject({ email });
    expect(await verified()).toBe(true);
  });

  it('can be accepted by an existing account with a copied link, which does not verify it', async () => {
    const home = await newHome();
    const invited = await newcomer(db);
    const { id } = await invite(home, invited.email);
    const token = tokenIn(await operate(db, linkInvitation, { workspace: home.slug, id }));
    await accept(token, invited.id);
    const user = await db.prisma.user.findUniqueOrThrow({ where: { id: invited.id } });
    expect(user.emailVerifiedAt).toBeNull();
    expect(await membersOf(home.slug, invited.email)).toEqual([{ role: 'developer' }]);
  });

  it('end with the role of whoever made them', async () => {
    const home = await newHome();
    const admin = await newcomer(db);
    await invite(home, admin.email, 'admin');
    await accept(await linkFor(admin.email), admin.id);
    const [email, another] = [newEmail(), newEmail()];
    await invite(home, email, 'admin', admin.id);
    expect(await refusalOf(invite(home, another, 'owner', admin.id))).toContain('only the role owner');
    const token = await linkFor(email);
    await setMember(db, { workspace: home.slug, member: admin.id, role: 'developer' }, home.owner.id);
    expect(await refusalOf(join(token))).toContain('was canceled');
  });

  it('make one member, however often and at once they are accepted', async () => {
    for (let round = 0; round < 5; round += 1) {
      const home = await newHome();
      const email = newEmail();
      await invite(home, email);
      const token = await linkFor(email);
      const ended = await Promise.allSettled([join(token), join(token), join(token)]);
      expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
      expect(await membersOf(home.slug, email)).toHaveLength(1);
    }
  });

  it('are accepted or taken back, never both', async () => {
    for (let round = 0; round < 10; round += 1) {
      const home = await newHome();
      const email = newEmail();
      const { id } = await invite(home, email);
      const token = await linkFor(email);
      const [joined, cancelled] = await Promise.allSettled([
        join(token),
        operate(db, cancelInvitation, { workspace: home.slug, id }),
      ]);
      expect([joined.status, cancelled.status].sort()).toEqual(['fulfilled', 'rejected']);
      const members = await membersOf(home.slug, email);
      expect(members).toHaveLength(joined.status === 'fulfilled' ? 1 : 0);
    }
  });

  it('do not outlive their maker when both happen at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const home = await newHome();
      const other = await newcomer(db);
      await invite(home, other.email, 'owner');
      await accept(await linkFor(other.email), other.id);
      const email = newEmail();
      await Promise.allSettled([
        invite(home, email, 'owner', other.id),
        removeMember(db, { workspace: home.slug, member: other.id }, home.owner.id),
      ]);
      expect(await tokensFor(email)).toEqual([]);
    }
  });

  it('are no way into a workspace that is suspended', async () => {
    const home = await newHome();
    const email = newEmail();
    await invite(home, email);
    const token = await linkFor(email);
    await db.prisma.workspace.update({ where: { slug: home.slug }, data: { suspendedAt: new Date() } });
    expect(await refusalOf(join(token))).toContain('suspended');
  });

  it('are a hundred a day at most for whoever sends them', async () => {
    const { id: workspaceId, slug } = await createWorkspace(db, { name: 'Flood' });
    const expiresAt = new Date();
    const data = Array.from({ length: 100 }, () => {
      return { id: crypto.randomUUID(), workspaceId, email: newEmail(), role: 'viewer', expiresAt };
    });
    await db.prisma.invitation.createMany({ data });
    const one = operate(db, createInvitation, { workspace: slug, email: newEmail(), role: 'viewer' });
    expect(await refusalOf(one)).toContain('try again tomorrow');
  });
});
