import { parseArgs } from 'node:util';
import { startSandbox } from '#tools/sandbox/server';

/**
 * The simulated provider as a separate process:
 * `node tools/sandbox/main.ts [--port N] [--host H] [--key K] [--log FILE] [--pace MS] [--tied]`.
 * Prints `{"url":…,"origin":…}` once it listens; with `--tied` it ends with its standard input. With `--webhook URL
 * --webhook-secret S [--payments-port N] [--payments-file F]` it is also a stand-in for Stripe, at `payments`.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    key: { type: 'string' },
    log: { type: 'string' },
    pace: { type: 'string', default: '0' },
    tied: { type: 'boolean', default: false },
    webhook: { type: 'string' },
    'webhook-secret': { type: 'string', default: '' },
    'payments-port': { type: 'string', default: '0' },
    'payments-file': { type: 'string' },
  },
});

const sandbox = await startSandbox({
  port: Number(values.port),
  host: values.host,
  paceMs: Number(values.pace),
  ...(values.key === undefined ? {} : { key: values.key }),
  ...(values.log === undefined ? {} : { logFile: values.log }),
});
const payments = values.webhook === undefined ? null : await standIn(values.webhook);
const addresses = {
  url: sandbox.url,
  origin: sandbox.origin,
  ...(payments ? { payments: payments.url } : {}),
};
process.stdout.write(`${JSON.stringify(addresses)}\n`);

const stop = () => Promise.all([sandbox.close(), payments?.close()]).then(() => process.exit(0));
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
if (values.tied) process.stdin.resume().once('end', stop).once('error', stop);

async function standIn(webhook: string): Promise<{ url: string; close(): Promise<void> }> {
  const [{ startStripe }, { deliverTo }] = await Promise.all([
    import('#tools/sandbox/payments/server'),
    import('#tools/sandbox/payments/deliver'),
  ]);
  const file = values['payments-file'];
  const server = await startStripe({
    port: Number(values['payments-port']),
    ...(file === undefined ? {} : { file }),
  });
  deliverTo(server.account, webhook, values['webhook-secret']);
  return server;
}
