import type { ControlHost } from '#lib/control/operations/run';
import { type Env, publicUrl } from '#lib/platform/env/env';
import type { Throttle } from '#lib/platform/throttle/throttle';

/** The process's settings that the console needs. */
interface ConsoleEnv {
  /** The public URL of the console and the gateway, without a trailing slash. */
  readonly publicUrl: string;
  /** Each of them reads session cookies; the first one signs them. */
  readonly authSecrets: readonly string[];
  /** Other accounts with which people may sign in, besides a password. */
  readonly providers?: Pick<Env, 'github' | 'google'>;
  /** Whether mail is sent; otherwise its links are printed in the log. */
  readonly mails?: boolean;
  /** Whether the status page is public; default: true. */
  readonly statusPage?: boolean;
  /** Whether workspaces may have the content of calls kept; default: true. */
  readonly content?: boolean;
  /** Version of the program that serves the pages; null or absent: unknown. */
  readonly version?: string | null;
}

/** What the process provides to the console's pages and actions. */
export interface ConsoleHost {
  /** The host of operations; a change made here is in force on this machine at once. */
  readonly control: ControlHost;
  readonly env: ConsoleEnv;
  /** Limits how often people may try something, such as signing in. */
  readonly throttle: Throttle;
  /** Logs unexpected errors of pages and actions. */
  report(error: unknown): void;
}

const slot = Symbol.for('model-gateway.console-host');

/** Called by the process before it serves a page; null removes the host. */
export function setConsoleHost(host: ConsoleHost | null): void {
  (globalThis as Record<symbol, unknown>)[slot] = host;
}

/** The host that the process set; null: none. */
export function findConsoleHost(): ConsoleHost | null {
  return ((globalThis as Record<symbol, unknown>)[slot] as ConsoleHost | null | undefined) ?? null;
}

/**
 * @param port on which the process listens.
 * @param authSecrets read the console's sessions; the first one signs them.
 */
export function consoleEnvOf(env: Env, port: number, authSecrets: readonly string[]): ConsoleEnv {
  return {
    publicUrl: publicUrl(env, port),
    authSecrets,
    providers: { github: env.github, google: env.google },
    mails: env.smtpUrl !== null,
    statusPage: env.statusPage,
    content: env.content,
  };
}
