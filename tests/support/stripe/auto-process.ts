import { runAutoTopUps } from '#lib/control/billing/auto/sweep';
import { openPayments } from '#lib/control/billing/payments/client';
import { openDb } from '#lib/platform/data/db';

/**
 * A process that makes the automatic top-ups that are due, and exits: `auto-process.ts DATABASE_URL
 * STRIPE_URL`.
 */
const [url = '', apiBase = ''] = process.argv.slice(2);
const db = openDb(url);
const settings = { secretKey: 'sk_test_shop', webhookSecret: null, apiBase, feeBasisPoints: 0 };
await runAutoTopUps({
  pool: db.pool,
  payments: openPayments(settings, 'http://console.test'),
  changed: () => {},
});
await db.close();
