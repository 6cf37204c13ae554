import type { Logger } from 'pino';

/** Terminal escape sequences, such as colors. */
const steering = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, 'g');

type Write = typeof process.stderr.write;

/**
 * Turns what Next, Node and libraries print into log lines, one JSON object each, because a stack trace of several
 * lines would break a log that is read line by line. Standard error is logged as `error`, standard output as `info`.
 * @returns a function that restores the streams.
 */
export function logWhatIsPrinted(log: Logger): () => void {
  const { stdout, stderr } = process;
  const before = { out: stdout.write, err: stderr.write, warn: process.listeners('warning') };
  stdout.write = writeTo((text) => log.info({ printed: text }, 'printed'));
  stderr.write = writeTo((text) => log.error({ printed: text }, 'printed'));
  const warn = (warning: Error) => {
    // Concerns developers of the gateway, not its operators.
    if (warning.name === 'ExperimentalWarning') return;
    log.warn({ warning: warning.name, reason: warning.stack ?? warning.message }, 'a warning from Node');
  };
  // Node's own listener would print directly to the file descriptor.
  process.removeAllListeners('warning').on('warning', warn);
  return () => {
    stdout.write = before.out;
    stderr.write = before.err;
    process.removeAllListeners('warning');
    for (const listener of before.warn) process.on('warning', listener);
  };
}

function writeTo(take: (text: string) => void): Write {
  return (
    chunk: string | Uint8Array,
    encoding?: BufferEncoding | ((error?: Error | null) => void),
    done?: (error?: Error | null) => void,
  ) => {
    const text = (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
      .replace(steering, '')
      .trim();
    if (text !== '') take(text);
    const callback = typeof encoding === 'function' ? encoding : done;
    if (callback) process.nextTick(callback);
    return true;
  };
}
