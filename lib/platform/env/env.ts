import { resolve } from 'node:path';
import { type Settings, settingsSchema } from '#lib/core/schemas/settings';
import { fileSettingOf, readGiven, type Source } from '#lib/platform/env/env-given';
import { problemsOf } from '#lib/platform/env/env-problems';
import {
  encryptionKeyOf,
  leastSecret,
  readOrMakeSecrets,
  type SecretName,
  secretNames,
} from '#lib/platform/env/env-secrets';
import type { Proxies } from '#lib/platform/env/part-settings';
import { readTelemetry } from '#lib/platform/env/telemetry-settings';
import { OperatorError } from '#lib/platform/operator-error';

/** All settings that are missing, invalid or conflicting, each with its remedy. */
export class EnvError extends OperatorError {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`Some settings must be changed:\n${problems.map((line) => `  ${line}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Reads the settings out of `source`. On the embedded database missing secrets are made once and kept
 * in DATA_DIR; with DATABASE_URL they are required.
 * @throws EnvError naming every setting that is missing or wrong.
 */
export function readEnv(source: Source) {
  const settings = parseSettings(source);
  const problems = problemsOf(settings);
  const dataDir = resolve(settings.DATA_DIR);
  const embedded = settings.DATABASE_URL === undefined;
  const missing = secretNames.filter((name) => settings[name] === undefined);
  if (!embedded) {
    for (const name of missing) {
      problems.push(`${name}: required with DATABASE_URL. Set it to the output of: openssl rand -hex 32`);
    }
  }
  const { telemetry, problems: ofTelemetry } = readTelemetry(settings);
  problems.push(...ofTelemetry);
  if (problems.length > 0) throw new EnvError(problems);
  const made = missing.length > 0 ? readOrMakeSecrets(dataDir) : null;
  const secret = (name: SecretName): string => settings[name] ?? made?.[name] ?? '';
  const host = settings.HOST ?? (embedded ? '127.0.0.1' : '0.0.0.0');
  const alone = embedded && isLoopback(host);
  return {
    /** Address to listen on: 127.0.0.1 embedded, 0.0.0.0 with DATABASE_URL. */
    host,
    /** 0 lets the system choose. */
    port: settings.PORT,
    /** Absolute. */
    dataDir,
    /** null: the embedded database in `dataDir`. */
    databaseUrl: settings.DATABASE_URL ?? null,
    redis: redisOf(settings),
    workers: settings.WORKERS,
    /** How long a stopping process still admits calls on its open connections, ms; it accepts no new connections. */
    shutdownDelayMs: settings.SHUTDOWN_DELAY_SECONDS * 1000,
    /** Limits for calls during an outage of the database (contract: money/outage-allowance). */
    outage: { forMs: settings.DATABASE_AWAY_MINUTES * 60_000, boundNano: settings.DATABASE_AWAY_USD },
    /** Proxies in front, each of which adds an address to X-Forwarded-For. */
    proxyHops: settings.PROXY_HOPS,
    /** Signs of life of silent streams: after how long, ms (0: none), and whether before a provider's headers. */
    signOfLife: {
      afterMs: settings.SIGN_OF_LIFE_SECONDS * 1000,
      beforeHeaders: settings.SIGN_OF_LIFE_BEFORE_HEADERS,
    },
    lane: settings.LANE,
    /** null: chosen by the process itself (contract: durability/settlement-modes). */
    settlement: settings.SETTLEMENT ?? null,
    nextAuthSecret: secret('NEXTAUTH_SECRET'),
    /** Previous secrets, whose sessions stay valid. */
    oldNextAuthSecrets: settings.NEXTAUTH_SECRET_OLD,
    /** Which of the three secrets are too short to be safe. */
    shortSecrets: secretNames.filter((name) => secret(name).length < leastSecret),
    /** 64 hex digits. */
    encryptionKey: encryptionKeyOf(secret('ENCRYPTION_KEY')),
    /** Previous keys, which still open what they sealed, in the same form. */
    oldEncryptionKeys: settings.ENCRYPTION_KEY_OLD.map(encryptionKeyOf),
    keyPepper: secret('KEY_PEPPER'),
    /** As set, else null: derived by `publicUrl` once the port is known. */
    nextAuthUrl: settings.NEXTAUTH_URL ? withoutSlash(settings.NEXTAUTH_URL) : null,
    /** `url`: of GitHub itself or of a GitHub Enterprise Server, without a slash at the end. */
    github: providerOf(settings.GITHUB_ID, settings.GITHUB_SECRET, {
      url: withoutSlash(settings.GITHUB_URL ?? 'https://github.com'),
    }),
    /** `issuer`: an OpenID provider, without a slash at the end. */
    google: providerOf(settings.GOOGLE_ID, settings.GOOGLE_SECRET, {
      issuer: withoutSlash(settings.GOOGLE_ISSUER ?? 'https://accounts.google.com'),
    }),
    smtpUrl: settings.SMTP_URL ?? null,
    /** Sender of mail: an address, or a name and an address; null: no-reply at the public address. */
    mailFrom: settings.MAIL_FROM ?? null,
    stripe: settings.STRIPE_SECRET_KEY
      ? {
          secretKey: settings.STRIPE_SECRET_KEY,
          webhookSecret: settings.STRIPE_WEBHOOK_SECRET ?? null,
          apiBase: settings.STRIPE_API_BASE ?? null,
          feeBasisPoints: settings.TOP_UP_FEE_PERCENT,
        }
      : null,
    sandbox: settings.SANDBOX ?? embedded,
    /** Whether workspaces may have the content of their calls kept. */
    content: settings.CONTENT ?? true,
    /** Where it is kept (contract: content/store); `target` null: in the database. */
    contentStore: {
      target: settings.CONTENT_STORE ?? null,
      endpoint: settings.CONTENT_STORE_ENDPOINT ?? null,
      region: settings.CONTENT_STORE_REGION ?? (settings.CONTENT_STORE_ENDPOINT ? 'us-east-1' : null),
      pathStyle: settings.CONTENT_STORE_PATH_STYLE ?? settings.CONTENT_STORE_ENDPOINT !== undefined,
    },
    /** Whether workspaces may store own keys, and own addresses with them (contract: own-keys/allowed). */
    ownKeys: settings.OWN_KEYS,
    /** What a call on an own key costs: hundredths of a percent of its list price. */
    ownKeyFeePoints: settings.OWN_KEY_FEE_PERCENT,
    /** null: providers are reached directly. */
    proxies: proxiesOf(settings),
    /** Whether a stand-in for Stripe may take payments if Stripe is not set up. */
    playMoney: settings.PLAY_MONEY ?? alone,
    metricsToken: settings.METRICS_TOKEN ?? null,
    logLevel: settings.LOG_LEVEL,
    maxBodyBytes: settings.MAX_BODY_BYTES,
    maxUploadBytes: settings.MAX_UPLOAD_BYTES,
    maxWorkspaceFiles: settings.MAX_WORKSPACE_FILES,
    maxWorkspaceFileBytes: settings.MAX_WORKSPACE_FILE_BYTES,
    bodyBudgetBytes: settings.BODY_BUDGET_BYTES,
    /** How long the call log is kept, days; workspaces may choose fewer. */
    callRetentionDays: settings.CALL_RETENTION_DAYS,
    /** Whether this process serves the console's pages. */
    console: settings.CONSOLE ?? true,
    /** Default: on the embedded database, if only this machine can connect. */
    allowSignUp: settings.ALLOW_SIGN_UP ?? alone,
    /** Whether the status page is public. */
    statusPage: settings.STATUS_PAGE ?? true,
    /** Origins whose pages may call from the browser. */
    corsOrigins: settings.CORS_ORIGINS,
    /** Credit for a workspace that was created by signing up, nano-dollars. */
    signUpCreditNano: settings.SIGN_UP_CREDIT_USD,
    /** After how many days the rest of it expires; null: never. */
    signUpCreditDays: settings.SIGN_UP_CREDIT_DAYS ?? null,
    /** null: calls are not sent to a collector. */
    telemetry,
  };
}

/** Every setting of the process (contract: operations/settings), checked and with its defaults. */
export type Env = Readonly<ReturnType<typeof readEnv>>;

/** Whether Next compiles pages as they are asked for (`npm run dev`). */
export function isDevelopment(): boolean {
  return process.env.NODE_ENV === 'development';
}

/** `readEnv` of this process. */
export function loadEnv(): Env {
  return readEnv(process.env);
}

/**
 * The settings of a process that runs only Next: it has no embedded database and makes no secrets.
 * @returns null without DATABASE_URL or KEY_PEPPER: no key can be resolved (contract: authentication/resolver).
 */
export function findHostEnv(source: Source = process.env): Env | null {
  const given = (name: string) => source[name] || source[fileSettingOf(name)];
  return given('DATABASE_URL') && given('KEY_PEPPER') ? readEnv(source) : null;
}

/** Where this process keeps its data, for programs that need no other settings. */
export function loadPlace(): { readonly databaseUrl: string | null; readonly dataDir: string } {
  const { DATABASE_URL, DATA_DIR } = parseSettings(process.env);
  return { databaseUrl: DATABASE_URL ?? null, dataDir: resolve(DATA_DIR) };
}

/** NEXTAUTH_URL, else the address that `host` and `port` make; never stored. */
export function publicUrl(env: Pick<Env, 'nextAuthUrl' | 'host'>, port: number): string {
  const local = ['127.0.0.1', '0.0.0.0', '::', '::1'].includes(env.host);
  const name = local ? 'localhost' : env.host.includes(':') ? `[${env.host}]` : env.host;
  return env.nextAuthUrl ?? `http://${name}:${port}`;
}

/** Gives the derived address to next-auth, which reads it from the environment. */
export function exportForNextAuth(env: Env, port: number): void {
  process.env.NEXTAUTH_URL = publicUrl(env, port);
}

/** Next would add files to the environment that no other part knows (contract: operations/env-file). */
export function keepNextFromEnvFiles(): void {
  process.env.__NEXT_PROCESSED_ENV = 'true';
}

/**
 * Has Next take its settings from here instead of reading `next.config.ts`, for which it would load its compiler, as
 * the server of its standalone output does (docs/decisions/memory-at-rest.md).
 * @param settings the `config` of `.next/required-server-files.json`.
 */
export function giveNextSettings(settings: unknown): void {
  process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(settings);
}

/** The environment of this process with more variables, for a child of it. */
export function environmentWith(added: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...added };
}

/** Reads and removes a variable that was set only for this process, so that its children do not get it. */
export function takeVariable(name: string): string | undefined {
  const value = process.env[name];
  delete process.env[name];
  return value;
}

const names: readonly string[] = Object.keys(settingsSchema.shape);
const own = new Set<string>([...names, ...names.map(fileSettingOf)]);

/**
 * The value that an `env:` entry of the catalogue names: a provider's credential or address.
 * @returns null if unset or empty, and for the gateway's own settings, which never go to a provider.
 * @throws EnvError if its file cannot be read, or if it is set twice.
 */
export function envSecret(name: string): string | null {
  if (own.has(name)) return null;
  const { value, problem } = readGiven(process.env, name);
  if (problem !== null) throw new EnvError([problem]);
  return value;
}

function parseSettings(source: Source): Settings {
  const given = { ...source, ...lowerCased(source) };
  const read = names.map((name) => [name, readGiven(given, name)] as const);
  const problems = read.flatMap(([, { problem }]) => problem ?? []);
  if (problems.length > 0) throw new EnvError(problems);
  const set = read.flatMap(([name, { value }]) => (value === null ? [] : [[name, value]]));
  const parsed = settingsSchema.safeParse(Object.fromEntries(set));
  if (parsed.success) return parsed.data;
  throw new EnvError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
}

/** Proxy settings that are set in lower case, by their upper-case names (contract: operations/proxies). */
function lowerCased(source: Source): Source {
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];
  const set = names.filter((name) => source[name.toLowerCase()]?.trim());
  return Object.fromEntries(set.map((name) => [name, source[name.toLowerCase()]]));
}

function proxiesOf({ HTTPS_PROXY, HTTP_PROXY, NO_PROXY = '' }: Settings): Proxies | null {
  if (HTTPS_PROXY === undefined && HTTP_PROXY === undefined) return null;
  return { https: HTTPS_PROXY ?? null, http: HTTP_PROXY ?? null, none: NO_PROXY };
}

/** Whether only this machine can reach what listens there. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function redisOf(
  settings: Settings,
): { kind: 'tcp'; url: string } | { kind: 'rest'; url: string; token: string } | null {
  if (settings.REDIS_URL) return { kind: 'tcp', url: settings.REDIS_URL };
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = settings;
  return url && token ? { kind: 'rest', url, token } : null;
}

function providerOf<Place>(id: string | undefined, secret: string | undefined, place: Place) {
  return id && secret ? { id, secret, ...place } : null;
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, '');
}
