import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '#lib/platform/env/env';
import type { PaymentSettings } from '#lib/platform/env/part-settings';

type Given = Pick<Env, 'stripe' | 'databaseUrl' | 'dataDir'>;
type Starting = Given & Pick<Env, 'sandbox' | 'playMoney' | 'port' | 'host'>;

const secretKey = 'sk_test_stand_in';

const fileOf = (dataDir: string) => join(dataDir, 'stand-in-payments.json');

/**
 * Payments with play money for trying out the gateway: on the embedded database, without settings of Stripe, with the
 * simulated provider, unless other machines can connect (contract: money/play-money).
 * @returns null otherwise, and if the port is not known before the start.
 */
export function standInFor(env: Starting) {
  const { stripe, databaseUrl, sandbox, playMoney, port, host, dataDir } = env;
  const file = fileOf(dataDir);
  if (stripe !== null || databaseUrl !== null || !sandbox || !playMoney || port === 0) {
    rmSync(file, { force: true });
    return null;
  }
  const webhookSecret = `whsec_${randomBytes(16).toString('hex')}`;
  return {
    /** For the command line of the simulated provider, whose process also stands in for Stripe. */
    flags: [
      `--webhook=http://${ownAddress(host)}:${port}/api/stripe/webhook`,
      `--webhook-secret=${webhookSecret}`,
      `--payments-file=${join(dataDir, 'stand-in-account.json')}`,
    ],
    /** Its settings as named values, which reach every process of this machine. @param apiBase its address. */
    settings: (apiBase: string): [name: string, value: string][] => {
      // For the command line.
      writeFileSync(file, JSON.stringify({ apiBase, webhookSecret }), { mode: 0o600 });
      return [
        ['STAND_IN_STRIPE_URL', apiBase],
        ['STAND_IN_STRIPE_WEBHOOK_SECRET', webhookSecret],
      ];
    },
  };
}

/** The payment settings of a process on a machine with the stand-in; null: there is none. */
export function standInSettings(value: (name: string) => string | null): PaymentSettings | null {
  const [apiBase, webhookSecret] = [value('STAND_IN_STRIPE_URL'), value('STAND_IN_STRIPE_WEBHOOK_SECRET')];
  return apiBase && webhookSecret ? settingsOf(apiBase, webhookSecret) : null;
}

/** The same for a command on the machine of a running gateway. */
export function findStandIn({ stripe, databaseUrl, dataDir }: Given): PaymentSettings | null {
  if (stripe !== null || databaseUrl !== null) return null;
  try {
    const { apiBase, webhookSecret } = JSON.parse(readFileSync(fileOf(dataDir), 'utf8'));
    return settingsOf(String(apiBase), String(webhookSecret));
  } catch {
    return null;
  }
}

function settingsOf(apiBase: string, webhookSecret: string): PaymentSettings {
  return { secretKey, webhookSecret, apiBase, feeBasisPoints: 0 };
}

/** Where a process of this machine reaches what listens at `host`. */
function ownAddress(host: string): string {
  if (['0.0.0.0', 'localhost'].includes(host)) return '127.0.0.1';
  const name = host === '::' ? '::1' : host;
  return name.includes(':') ? `[${name}]` : name;
}
