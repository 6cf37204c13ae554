import type { ControlHost } from '#lib/control/operations/run';
import { type Env, publicUrl } from '#lib/platform/env/env';
import type { Throttle } from '#lib/platform/throttle/throttle';

/** What the console needs of the process's settings. */
interface ConsoleEnv {
  /** Address of the console and the gateway as people reach it, without a slash at the end. */
  readonly publicUrl: string;
  /** Each reads session cookies; the first makes them. */
  readonly authSecrets: readonly string[];
  /** Accounts with which people may sign in besides a password. */
  readonly providers?: Pick<Env, 'github' | 'google'>;
  /** Whether mail is sent; else its links are printed in the log. */
  readonly mails?: boolean;
  /** Whether everybody may read the status page; default: true. */
  readonly statusPage?: boolean;
  /** Of the program that serves the pages; null or absent: not known. */
  readonly version?: string | null;
}

/** What the process gives to the console's pages and actions. */
export interface ConsoleHost {
  /** What operations work with; a change made here is in force on this machine at once. */
  readonly control: ControlHost;
  readonly env: ConsoleEnv;
  /** Counts what people try by hand. */
  readonly throttle: Throttle;
  /** Unexpected errors of pages and actions, for the log. */
  report(error: unknown): void;
}

const slot = Symbol.for('model-gateway.console-host');

/** Called by the process before it serves a page; null takes it away again. */
export function setConsoleHost(host: ConsoleHost | null): void {
  (globalThis as Record<symbol, unknown>)[slot] = host;
}

/** The host that the process set; null: none. */
export function findConsoleHost(): ConsoleHost | null {
  return ((globalThis as Record<symbol, unknown>)[slot] as ConsoleHost | null | undefined) ?? null;
}

/**
 * @param port the one that the process listens on.
 * @param authSecrets what the console's sessions are read with; the first signs them.
 */
export function consoleEnvOf(env: Env, port: number, authSecrets: readonly string[]): ConsoleEnv {
  return {
    publicUrl: publicUrl(env, port),
    authSecrets,
    providers: { github: env.github, google: env.google },
    mails: env.smtpUrl !== null,
    statusPage: env.statusPage,
  };
}
