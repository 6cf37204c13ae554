import type { Logger } from 'pino';
import {
  type ComparedSecret,
  comparePrints,
  heldSecretsOf,
  problemOf,
  recordPrints,
} from '#lib/control/operations/secret/prints';
import { storeOf } from '#lib/control/operations/store';
import type { Db } from '#lib/platform/data/db';
import type { Env } from '#lib/platform/env/env';
import { leastSecret } from '#lib/platform/env/env-secrets';
import { OperatorError } from '#lib/platform/operator-error';

const remedy = 'create one with: openssl rand -hex 32';

/**
 * Compares the secrets of this process with the prints in the database, and records those that it does not have yet
 * (contract: operations/secret-prints, operations/session-secret).
 * @returns `authSecrets`: secrets that verify sessions; the first one signs them.
 * @throws OperatorError.
 */
export async function meetSecrets(db: Db, env: Env, log: Pick<Logger, 'warn'>) {
  const store = storeOf(db);
  const held = heldSecretsOf(env);
  let compared = await comparePrints(store, held);
  const unknown = compared.filter(({ recordedAt }) => recordedAt === null);
  if (env.shortSecrets.length > 0) {
    if (unknown.length === held.length && !(await isInUse(db)))
      throw new OperatorError(tooShort(env).join('\n'));
    const text = `secrets shorter than ${leastSecret} characters can be guessed: replace them; ${remedy}`;
    log.warn({ settings: env.shortSecrets }, text);
  }
  if (unknown.length > 0) {
    await recordPrints(store, unknown);
    // Another process may have been faster, with other values.
    compared = await comparePrints(store, held);
  }
  const problems = compared.flatMap((secret) => problemOf(secret) ?? []);
  if (problems.length > 0) throw new OperatorError(problems.join('\n'));
  return { authSecrets: signingFirst(compared) };
}

async function isInUse(db: Db): Promise<boolean> {
  return (await db.prisma.workspace.findFirst({ select: { id: true } })) !== null;
}

function tooShort({ shortSecrets }: Pick<Env, 'shortSecrets'>): string[] {
  return shortSecrets.map((name) => `${name}: shorter than ${leastSecret} characters; ${remedy}`);
}

/** Puts the secret of the database first: every process accepts what it signs. */
function signingFirst(compared: readonly ComparedSecret[]): string[] {
  const auth = compared.find(({ name }) => name === 'NEXTAUTH_SECRET');
  const values = auth?.values ?? [];
  const at = auth?.at ?? 0;
  return [...values.slice(at, at + 1), ...values.slice(0, at), ...values.slice(at + 1)];
}
