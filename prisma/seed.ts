import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addCredit } from '#lib/control/operations/credit/operations';
import { createKey } from '#lib/control/operations/key/operations';
import { ask, type ControlHost } from '#lib/control/operations/run';
import { createUser } from '#lib/control/operations/user/operations';
import { createWorkspace } from '#lib/control/operations/workspace/operations';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import type { Db } from '#lib/platform/data/db';
import type { Env } from '#lib/platform/env/env';
import { readSealingKey } from '#lib/platform/sealing';
import { fillCatalogue } from '#lib/programs/process/catalogue/take-over';

const operator = { kind: 'operator', name: 'first run', address: null } as const;

/** What a first run prints; the password and the key are shown this once. */
export interface FirstRun {
  readonly email: string;
  readonly password: string;
  readonly workspaceSlug: string;
  readonly key: string;
}

/** Folder of the catalogue files. */
export const catalogueDir = fileURLToPath(new URL('../catalogue', import.meta.url));

/**
 * Fills an empty embedded database: the catalogue, a workspace "demo" with $10, its owner and a key.
 * A start that was cut off half-way is completed by the next one: the key comes last.
 * @returns null when the database is in use already.
 */
export async function seedFirstRun(
  db: Db,
  env: Pick<Env, 'keyPepper' | 'encryptionKey' | 'sandbox'>,
): Promise<FirstRun | null> {
  if ((await db.prisma.apiKey.count()) > 0) return null;
  if ((await db.prisma.workspace.count({ where: { slug: { not: 'demo' } } })) > 0) return null;
  const sealingKey = readSealingKey(env.encryptionKey);
  const catalogue = () => loadCatalogue(db.pool, { envSecret: () => undefined, sealingKey });
  const host = { db, keyPepper: env.keyPepper, sealingKey, catalogue, changed: () => {} };
  await seedCatalogue(host, env.sandbox);
  const demo =
    (await db.prisma.workspace.findUnique({ where: { slug: 'demo' } })) ??
    (await ask(host, createWorkspace, { actor: operator, input: { name: 'demo' } }));
  const asked = { actor: operator, workspace: demo.slug };
  if ((await db.prisma.ledgerLine.count({ where: { workspaceId: demo.id } })) === 0) {
    await ask(host, addCredit, { ...asked, input: { amount: '10', reason: 'Welcome credit' } });
  }
  const email = 'demo@example.com';
  // A user left by a start that was cut off has a password that nobody saw.
  await db.prisma.user.deleteMany({ where: { email } });
  const password = randomBytes(9).toString('base64url');
  const user = { email, password, name: 'Demo', operator: true, role: 'owner' };
  await ask(host, createUser, { ...asked, input: user });
  const { key } = await ask(host, createKey, { ...asked, input: { name: 'demo' } });
  return { email, password, workspaceSlug: demo.slug, key };
}

/** What an operator applied before the first start is left as it is. */
async function seedCatalogue(host: ControlHost, sandbox: boolean): Promise<void> {
  await fillCatalogue(host, { of: 'vendors', path: catalogueDir, skip: ['sandbox.yaml'] });
  if (sandbox) {
    await fillCatalogue(host, { of: 'sandbox', path: join(catalogueDir, 'sandbox.yaml'), skip: [] });
  }
}
