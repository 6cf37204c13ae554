import type { Logger } from 'pino';

/** What terminals read as colours and the like. */
const steering = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, 'g');

type Write = typeof process.stderr.write;

/**
 * Makes log lines, one JSON object each, of what Next, Node and libraries print: a stack of several lines would
 * tear a log that is read line by line. Standard error counts as `error`, standard output as `info`.
 * @returns what puts the streams back as they were.
 */
export function logWhatIsPrinted(log: Logger): () => void {
  const { stdout, stderr } = process;
  const before = { out: stdout.write, err: stderr.write, warn: process.listeners('warning') };
  stdout.write = writeTo((text) => log.info({ printed: text }, 'printed'));
  stderr.write = writeTo((text) => log.error({ printed: text }, 'printed'));
  const warn = (warning: Error) => {
    // Of the runtime's own features, for developers.
    if (warning.name === 'ExperimentalWarning') return;
    log.warn({ warning: warning.name, reason: warning.stack ?? warning.message }, 'a warning of Node');
  };
  // Node's own listener prints, past the streams.
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
