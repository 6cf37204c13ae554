import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renewOperatorLink } from '#lib/control/user/first-operator';
import type { Db } from '#lib/data/db';
import { type Env, publicUrl } from '#lib/env';

/**
 * The link that makes the first operator, for whoever reads what the start prints; the last one of this DATA_DIR ends
 * (contract: operations/first-operator). Behind the `#` it reaches no log of a proxy.
 * @returns null while there is an operator, and where this process has no console.
 */
export async function operatorLink(
  db: Db,
  env: Pick<Env, 'dataDir' | 'keyPepper' | 'console' | 'nextAuthUrl' | 'host' | 'port'>,
): Promise<string | null> {
  if (!env.console) return null;
  const path = join(env.dataDir, 'operator-link');
  const link = await renewOperatorLink(db, env.keyPepper, readIfThere(path));
  if (link === null) return null;
  writeFileSync(path, link.id);
  return `${publicUrl(env, env.port)}/welcome#${link.token}`;
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
