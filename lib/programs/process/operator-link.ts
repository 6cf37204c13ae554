import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renewOperatorLink } from '#lib/control/operations/user/first-operator';
import type { Db } from '#lib/platform/data/db';
import { type Env, publicUrl } from '#lib/platform/env/env';

/**
 * Makes the link for creating the first operator, which is printed at the start
 * (contract: operations/first-operator); the link that this DATA_DIR printed before stops working. The token is in the
 * fragment, which proxies never see.
 * @returns null if there is an operator, or this process has no console.
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
