import { pino } from 'pino';
import { loadEnv } from '#lib/platform/env/env';
import { orExplain } from '#lib/programs/process/explain';
import { tuneEngine } from '#lib/programs/process/tune-engine';
import { readWorkerSettings } from '#lib/programs/process/workers/worker-settings';

/**
 * The process: environment → database → runtime → one listener with two lanes. With WORKERS it starts that many
 * processes of this very program, which listen together.
 */
tuneEngine();
// Files, sockets and children of this process are its user's alone.
process.umask(0o077);
const settings = readWorkerSettings();
const env = await orExplain(loadEnv);
const dev = process.argv.includes('--dev');
// A log that cannot be written (the terminal closed, the disk full) must not end what it tells of.
const sink = pino.destination(2).on('error', () => undefined);
const log = pino({ level: env.logLevel, base: settings && { worker: settings.number } }, sink);
if (settings === null && env.workers > 1 && !dev) {
  const { runWorkers } = await import('#lib/programs/process/workers/primary');
  await runWorkers(env, log);
} else {
  const { alone, amongWorkers } = await import('#lib/programs/process/workers/serving-context');
  const { serveAt } = await import('#lib/programs/process/listener/serve');
  await serveAt(settings ? amongWorkers(env, settings, log) : await alone(env, log, dev), env, log, dev);
}
