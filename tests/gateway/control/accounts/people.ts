import { randomUUID } from 'node:crypto';
import { composeMail } from '#lib/control/mail/compose';
import { type Outbox, openOutbox } from '#lib/control/mail/drain';
import type { Letter } from '#lib/control/mail/letter';
import type { UserActor } from '#lib/control/operations/actor';
import type { Mutation, Read } from '#lib/control/operations/declare';
import type { Fields } from '#lib/control/operations/field/field';
import { ControlRefused } from '#lib/control/operations/refusal';
import { ask } from '#lib/control/operations/run';
import type { AccountRules } from '#lib/control/operations/user/account-rules';
import { findUserOfSession } from '#lib/control/operations/user/authenticate';
import { startSession } from '#lib/control/operations/user/sessions';
import { signUp } from '#lib/control/operations/user/sign-up';
import type { Db } from '#lib/platform/data/db';
import { controlHost } from '#tests/support/control/operate';

export const rules: AccountRules = {
  signUp: true,
  creditNano: 5_000_000_000n,
  creditDays: 30,
  verification: true,
};
export const password = 'three random words';

type Self<F extends Fields, Out> = Mutation<F, Out, 'self'> | Read<F, Out, 'self'>;

/** Asks as a stranger, or as a user. */
export function asks<F extends Fields, Out>(
  db: Db,
  operation: Self<F, Out>,
  input: unknown,
  actor?: UserActor,
  accounts = rules,
): Promise<Out> {
  const host = { ...controlHost(db), accounts };
  return ask(host, operation, { actor: actor ?? { kind: 'anonymous', address: '192.0.2.7' }, input });
}

export function newEmail(): string {
  return `${randomUUID()}@example.com`;
}

export async function newcomer(db: Db, accounts = rules) {
  const email = newEmail();
  const { id, slug } = await asks(
    db,
    signUp,
    { email, password, timeZone: 'Asia/Kathmandu' },
    undefined,
    accounts,
  );
  return { id, slug, email };
}

/** Signs a user in. */
export async function enter(db: Db, userId: string, version = 1): Promise<UserActor & { sessionId: string }> {
  const sessionId = randomUUID();
  const actor = { kind: 'user', userId, operator: false, sessionId, address: '192.0.2.7' } as const;
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  await asks(
    db,
    startSession,
    { id: sessionId, version, method: 'password', endsAt, userAgent: 'curl/8' },
    actor,
  );
  return actor;
}

export async function isIn(
  db: Db,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<boolean> {
  return (await findUserOfSession(db, { userId, sessionId }, Date.now())) !== null;
}

export function refusalOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'not refused',
    (error: unknown) => {
      if (error instanceof ControlRefused) return error.message;
      throw error;
    },
  );
}

/** An outbox whose letters stay here. */
export function openTestOutbox(db: Db, send: (letter: Letter, id: string) => Promise<void> = async () => {}) {
  const letters: Letter[] = [];
  const errors: unknown[] = [];
  const outbox: Outbox = openOutbox({
    db,
    compose: (mail) => composeMail({ db, keyPepper: 'pepper', publicUrl: 'https://gateway.example' }, mail),
    transport: {
      send: async (letter, id) => {
        await send(letter, id);
        letters.push(letter);
      },
      close: async () => undefined,
    },
    report: (error) => errors.push(error),
  });
  return { outbox, letters, errors };
}

/** The tokens in the links of letters to an address. */
export function tokensIn(letters: readonly Letter[], email: string, page = '/verify'): string[] {
  return letters.flatMap(({ to, link }) => {
    const [address, token] = link?.split('?token=') ?? [];
    return to === email && address?.endsWith(page) && token ? [token] : [];
  });
}
