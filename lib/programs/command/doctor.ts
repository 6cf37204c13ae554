import { connect } from 'node:net';
import type { ListedModel } from '#lib/control/catalogue/list';
import { commandLine } from '#lib/control/operations/actor';
import { listCatalogue } from '#lib/control/operations/catalogue/operations';
import { ask, type ControlHost } from '#lib/control/operations/run';
import { comparePrints, problemOf } from '#lib/control/operations/secret/prints';
import { storeOf } from '#lib/control/operations/store';
import { tableLines } from '#lib/control/operations/text';
import { ObjectStore } from '#lib/gateway/content/objects/object-store';
import { type Env, EnvError } from '#lib/platform/env/env';
import type { Command } from '#lib/programs/command/command';
import type { Context } from '#lib/programs/command/context';
import { hostOf } from '#lib/programs/command/declared';

interface Check {
  name: string;
  /** ok: in use. off: not configured and not required. missing: required. failed: configured but broken. */
  state: 'ok' | 'off' | 'missing' | 'failed';
  detail: string;
}

export const doctor: readonly Command[] = [
  {
    name: 'doctor',
    usage: '',
    positionals: [],
    options: [],
    required: [],
    run: async (context) => {
      const checks = await examine(context);
      const bad = checks.filter((check) => check.state === 'missing' || check.state === 'failed');
      const rows = checks.map((check) => [check.state.toUpperCase(), check.name, check.detail]);
      return {
        json: { ok: bad.length === 0, checks },
        text: tableLines(['STATE', 'WHAT', 'DETAIL'], rows, ''),
        ...(bad.length > 0 ? { failed: `problems to fix: ${bad.map((one) => one.name).join(', ')}` } : {}),
      };
    },
  },
];

async function examine(context: Context): Promise<Check[]> {
  let env: Env;
  try {
    env = context.env();
  } catch (error) {
    const problems = error instanceof EnvError ? error.problems : [messageOrCode(error)];
    return problems.map((detail) => ({ name: 'settings', state: 'missing', detail }));
  }
  return [
    { name: 'settings', state: 'ok', detail: `data in ${env.dataDir}` },
    ...(await examineDatabase(context, env)),
    await examineRedis(env),
    await examineContent(env),
    optional('metrics', env.metricsToken !== null, 'protected by METRICS_TOKEN', 'set METRICS_TOKEN'),
    optional(
      'mail',
      env.smtpUrl !== null,
      'sent through SMTP_URL',
      'set SMTP_URL; without it, links are printed in the log',
    ),
    optional('sign-up', env.allowSignUp, 'anyone may sign up', 'set ALLOW_SIGN_UP=on'),
    optional('github sign-in', env.github !== null, 'on', 'set GITHUB_ID and GITHUB_SECRET'),
    optional('google sign-in', env.google !== null, 'on', 'set GOOGLE_ID and GOOGLE_SECRET'),
    optional(
      'simulated provider',
      env.sandbox,
      'started by the server',
      'set SANDBOX=on to try the gateway without real providers',
    ),
    optional(
      'stripe',
      env.stripe !== null,
      env.stripe?.webhookSecret
        ? `top-ups by card${/^[rs]k_live_/.test(env.stripe.secretKey) ? '' : ', with a test key: no card is charged'}`
        : 'top-ups by card; without STRIPE_WEBHOOK_SECRET, only "gateway billing reconcile" credits them',
      'set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET for top-ups by card',
    ),
  ];
}

async function examineDatabase(context: Context, env: Env): Promise<Check[]> {
  const where = env.databaseUrl === null ? 'the embedded database' : new URL(env.databaseUrl).host;
  try {
    const host = await hostOf(context);
    const offers = await listOffers(host);
    const database: Check[] = [
      { name: 'database', state: 'ok', detail: `${where} answers and is migrated` },
      ...(await secretChecks(host)),
    ];
    if (offers.length === 0) {
      const detail = 'empty: run "gateway catalogue apply catalogue"';
      return [...database, { name: 'catalogue', state: 'missing', detail }];
    }
    const available = offers.filter((offer) => offer.available);
    const catalogue: Check = {
      name: 'catalogue',
      state: 'ok',
      detail: `${offers.length} offers, ${available.length} of them available with these credentials`,
    };
    return [...database, catalogue, ...providerChecks(offers)];
  } catch (error) {
    return [{ name: 'database', state: 'failed', detail: `${where}: ${messageOrCode(error)}` }];
  }
}

/** Whether the database is used with these secrets (contract: operations/secret-prints). */
async function secretChecks({ db, heldSecrets = [] }: ControlHost): Promise<Check[]> {
  const compared = await comparePrints(storeOf(db), heldSecrets);
  const problems = compared.flatMap((secret) => problemOf(secret) ?? []);
  if (problems.length > 0) return problems.map((detail) => ({ name: 'secrets', state: 'failed', detail }));
  const short = compared.flatMap((secret) => (secret.short ? secret.name : []));
  const known = compared.every(({ recordedAt }) => recordedAt !== null);
  const detail = known
    ? 'the ones that the database is used with'
    : 'will be recorded at the next start of a server';
  const advice = `; too short, replace them (openssl rand -hex 32): ${short.join(', ')}`;
  return [{ name: 'secrets', state: 'ok', detail: short.length > 0 ? detail + advice : detail }];
}

/** The offers of all pages of the catalogue. */
async function listOffers(host: ControlHost, after?: string): Promise<ListedModel['offers']> {
  const input = after === undefined ? {} : { after };
  const { data, next } = await ask(host, listCatalogue, { actor: commandLine, input });
  const offers = data.flatMap((one) => one.offers);
  return next === null ? offers : [...offers, ...(await listOffers(host, next))];
}

/** One line for each provider: in use, or what its first unavailable offer lacks. */
function providerChecks(
  offers: readonly { provider: string; available: boolean; why: string | null }[],
): Check[] {
  return [...Map.groupBy(offers, (offer) => offer.provider)].map(([provider, own]): Check => {
    const usable = own.filter((offer) => offer.available).length;
    if (usable > 0)
      return { name: `provider ${provider}`, state: 'ok', detail: `${usable} of ${own.length} offers` };
    return { name: `provider ${provider}`, state: 'off', detail: own[0]?.why ?? '' };
  });
}

async function examineRedis(env: Env): Promise<Check> {
  if (env.redis === null) {
    return {
      name: 'redis',
      state: 'off',
      detail:
        env.databaseUrl === null && env.workers === 1
          ? 'not set: there is only one process, so limits need not be shared'
          : 'not set: limits are shared in the database',
    };
  }
  const problem =
    env.redis.kind === 'tcp' ? await knock(env.redis.url) : await pingRest(env.redis.url, env.redis.token);
  return problem === null
    ? { name: 'redis', state: 'ok', detail: 'reachable' }
    : { name: 'redis', state: 'failed', detail: problem };
}

/** Whether the store of kept content is written, read and deleted (contract: content/store). */
async function examineContent({ content, contentStore }: Env): Promise<Check> {
  const name = 'content store';
  const { target } = contentStore;
  if (target === null)
    return { name, state: 'off', detail: 'not set: content that workspaces keep is in the database' };
  const place = `s3://${target.bucket}${target.prefix === '' ? '' : `/${target.prefix}`}`;
  try {
    const advice = await new ObjectStore(contentStore).check();
    if (advice !== null) return { name, state: 'failed', detail: advice };
    const idle = content ? '' : '; CONTENT=off: nothing new is kept';
    return { name, state: 'ok', detail: `${place} is written, read and deleted${idle}` };
  } catch (error) {
    return { name, state: 'failed', detail: messageOrCode(error) };
  }
}

/** Whether something listens at a redis:// address; null if it does. */
function knock(address: string): Promise<string | null> {
  const url = new URL(address);
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname, port: Number(url.port || '6379'), timeout: 2_000 });
    const end = (problem: string | null) => {
      socket.destroy();
      resolve(problem);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end('no answer within 2 s'));
    socket.once('error', (error) => end(error.message));
  });
}

async function pingRest(url: string, token: string): Promise<string | null> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(new URL('/ping', url), { headers, signal: AbortSignal.timeout(2_000) });
    return answer.ok ? null : `answers ${answer.status}`;
  } catch (error) {
    return messageOrCode(error);
  }
}

function optional(name: string, on: boolean, used: string, how: string): Check {
  return on ? { name, state: 'ok', detail: used } : { name, state: 'off', detail: how };
}

function messageOrCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
