import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCommand } from '#lib/programs/command/main';
import { inherited } from '#tests/support/run/inherited';
import { secrets } from '#tests/support/shared/attach';

/** The environment of the tests, restored after each command, even if several run at once. */
const outside = process.env;

const program = fileURLToPath(new URL('../../dist/gateway.js', import.meta.url));

/** The result of a command line. */
interface Ran {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CommandLine {
  /** A new directory, also DATA_DIR. */
  readonly dir: string;
  /** Runs a command in this process, as `bin/gateway` does in its own. */
  run(...argv: string[]): Promise<Ran>;
  /** Runs it as a process, which takes ten times as long: only for what a process can show. */
  spawn(...argv: string[]): Promise<Ran>;
  /** The same, but standard output is closed, as with `| head`. */
  unread(...argv: string[]): Promise<Omit<Ran, 'out'>>;
  /** Runs with --json, expects exit 0 and exactly one document on standard output. */
  json<Shape = Record<string, unknown>>(...argv: string[]): Promise<Shape>;
  close(): void;
}

/**
 * The command line.
 * @param databaseUrl null: the embedded database in DATA_DIR, of a running server or opened by the command,
 * with the secrets that were generated for it.
 */
export function commandLine(
  databaseUrl: string | null,
  env: Readonly<Record<string, string>> = {},
): CommandLine {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-command-'));
  const settings = {
    DATA_DIR: dir,
    ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl, ...secrets }),
    ...env,
  };
  const environment = (): NodeJS.ProcessEnv => {
    return { NODE_ENV: 'test', ...inherited(), TMPDIR: process.env.TMPDIR, ...settings };
  };
  const start = (argv: readonly string[]) =>
    spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment(),
    });
  const spawned = async (...argv: string[]): Promise<Ran> => {
    const child = start(argv);
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { exit: child.exitCode, out, err };
  };
  const run = async (...argv: string[]): Promise<Ran> => {
    const ran = { out: '', err: '' };
    process.env = environment();
    try {
      const exit = await runCommand(argv, {
        out: (text) => {
          ran.out += text;
        },
        err: (text) => {
          ran.err += text;
        },
      });
      return { exit, ...ran };
    } finally {
      process.env = outside;
    }
  };
  return {
    dir,
    run,
    spawn: spawned,
    unread: async (...argv) => {
      const child = start(argv);
      child.stdout.destroy();
      const [err] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      return { exit: child.exitCode, err };
    },
    json: async <Shape>(...argv: string[]) => {
      const { exit, out, err } = await run(...argv, '--json');
      if (exit !== 0) throw new Error(`gateway ${argv.join(' ')} ended with ${exit}: ${err}`);
      return JSON.parse(out) as Shape;
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}
