import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const passed = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** How long to wait for the output of a program that has ended, ms. */
const outputMs = 3_000;

const tether = new URL('./tether.mjs', import.meta.url).href;

/**
 * Runs a program to its end. A Node program (such as npm) stops if this process is killed; otherwise it would still
 * write while the next start begins again.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, output?: 'show' | 'onFailure' | 'atEnd' }} options
 *   `onFailure` shows the program's output only if it fails, `atEnd` after it has ended.
 * @throws Error if it fails, with its exit `code`; 128 + the signal's number if a signal ended it.
 */
export async function run(command, args, { output = 'show', ...options } = {}) {
  const shown = output === 'show' ? 'inherit' : 'pipe';
  const { env = process.env } = options;
  const child = spawn(command, args, {
    ...options,
    env: { ...env, NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --import=${tether}?at-once`, ...tetheredTo() },
    stdio: ['ignore', shown, shown, 'ipc'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      printed += chunk;
    });
  }
  const code = await ended(child, (signal) => child.kill(signal));
  if (output === 'atEnd') process.stdout.write(printed);
  if (code === 0) return;
  if (output === 'onFailure') process.stderr.write(printed);
  throw Object.assign(new Error(`"${[command, ...args].join(' ')}" ended with code ${code}.`), { code });
}

/**
 * Runs a Node program in place of this one: same terminal, same signals, and it stops if this one is killed.
 * @returns {Promise<number>} its exit code; 128 + the signal's number if a signal ended it.
 */
export async function become(node, args, options = {}) {
  const child = spawn(node, ['--import', tether, ...args], {
    ...options,
    env: { ...(options.env ?? process.env), ...tetheredTo() },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  let lastMs = Number.NEGATIVE_INFINITY;
  const pass = (signal) => {
    // One Ctrl-C arrives twice, from the terminal and from npm; a second Ctrl-C comes later.
    if (performance.now() - lastMs < 1000) return;
    lastMs = performance.now();
    // A terminal also signals the child: the tether, which hears of it later, passes on only what the child missed.
    setTimeout(() => child.connected && child.send({ passedSignal: signal }, () => undefined), 250);
  };
  const npm = process.env.npm_lifecycle_event ? process.ppid : null;
  const watch = setInterval(() => {
    // A killed npm sends no signal. Without npm, our parent may leave, as with `&`.
    if (npm !== null && process.ppid !== npm) pass('SIGTERM');
  }, 1000);
  return ended(child, pass).finally(() => clearInterval(watch));
}

/** Tells the tether whose child it is in: grandchildren inherit the environment. */
function tetheredTo() {
  return { MODEL_GATEWAY_TETHER: String(process.pid) };
}

function ended(child, pass) {
  return new Promise((resolve, reject) => {
    const passes = passed.map((signal) => [signal, () => pass(signal)]);
    for (const [signal, listener] of passes) process.on(signal, listener);
    const settle = (done) => {
      for (const [signal, listener] of passes) process.off(signal, listener);
      done();
    };
    const finish = (code, signal) => settle(() => resolve(code ?? 128 + constants.signals[signal]));
    child.once('error', (error) => settle(() => reject(error)));
    child.once('close', finish);
    child.once('exit', (code, signal) => {
      // A process that it left behind may keep its output open forever.
      const giveUp = () => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        finish(code, signal);
      };
      setTimeout(giveUp, outputMs).unref();
    });
  });
}
