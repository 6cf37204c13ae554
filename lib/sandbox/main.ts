import { parseArgs } from 'node:util';
import { startSandbox } from '#lib/sandbox/server';

/**
 * The simulated provider as a process of its own:
 * `node lib/sandbox/main.ts [--port N] [--host H] [--key K] [--log FILE] [--pace MS] [--tied]`.
 * Prints `{"url":…,"origin":…}` once it listens; `--tied`: ends with its standard input.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    key: { type: 'string' },
    log: { type: 'string' },
    pace: { type: 'string', default: '0' },
    tied: { type: 'boolean', default: false },
  },
});

const sandbox = await startSandbox({
  port: Number(values.port),
  host: values.host,
  paceMs: Number(values.pace),
  ...(values.key === undefined ? {} : { key: values.key }),
  ...(values.log === undefined ? {} : { logFile: values.log }),
});
process.stdout.write(`${JSON.stringify({ url: sandbox.url, origin: sandbox.origin })}\n`);

const stop = () => sandbox.close().then(() => process.exit(0));
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
if (values.tied) process.stdin.resume().once('end', stop).once('error', stop);
