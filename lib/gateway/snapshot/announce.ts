import { closeSync, openSync, readdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join, relative } from 'node:path';
import type { LimitUse } from '#lib/gateway/limits/pure/limit-book';

/** A Unix socket's address has at most 103 bytes on some systems, 107 on Linux. */
const longestPath = 103;
const socketName = /^\d{1,10}\.sock$/;
const answerWithinMs = 200;

/** By word, what a process says to those that ask it; what follows the word is the argument. */
export type Answers = Record<string, (argument: string) => string | Promise<string>>;

/**
 * Listens on `dataDir`/run/<pid>.sock for the message that something changed (contract: durability/announcement).
 * @param onPoll polls the change feed; the sender waits for it, at most 200 ms.
 * @param answers to other words: what `askProcesses` gets for them; what follows the word is its argument.
 * @returns a stop function, which removes the socket. Where no socket can be made, listening is left out:
 * the feed still polls every second.
 */
export async function listenForPolls(
  dataDir: string,
  onPoll: () => Promise<unknown>,
  answers: Readonly<Answers> = {},
): Promise<() => Promise<void>> {
  const dir = join(dataDir, 'run');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const place = shortPlace(dir, `${process.pid}.sock`);
  if (place === null) return async () => {};
  await rm(join(dir, `${process.pid}.sock`), { force: true });
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.setTimeout(5_000, () => socket.destroy());
    socket.once('data', (word) => {
      const [asked = '', argument = ''] = word.toString().trim().split(' ');
      const said = Object.hasOwn(answers, asked) ? answers[asked] : undefined;
      if (said) {
        Promise.resolve(said(argument)).then(
          (text) => socket.end(text),
          () => socket.destroy(),
        );
        return;
      }
      const answer = () => socket.end('ok\n');
      onPoll().then(answer, answer);
    });
  });
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(place.path, resolve);
  });
  return async () => {
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await rm(join(dir, `${process.pid}.sock`), { force: true });
    place.release();
  };
}

/**
 * Tells every gateway process on this data directory that something changed. Sockets of dead processes
 * are removed. Ends when all have polled, after 200 ms at the latest; never throws.
 * @returns how many answered.
 */
export async function announce(dataDir: string): Promise<number> {
  return (await askProcesses(dataDir, 'poll')).length;
}

/**
 * Asks every gateway process on this data directory for one of its `answers`. Never throws.
 * @param word "health", or with an argument "use <id>".
 * @returns what those said that answered within `withinMs`.
 */
export async function askProcesses(
  dataDir: string,
  word: string,
  withinMs = answerWithinMs,
): Promise<readonly string[]> {
  const dir = join(dataDir, 'run');
  try {
    const names = readdirSync(dir).filter((name) => socketName.test(name));
    const said = await Promise.all(names.map((name) => say(dir, name, word, withinMs)));
    return said.filter((answer) => answer !== null);
  } catch {
    return [];
  }
}

/** @returns what the process answered; null when it is dead or silent. */
async function say(dir: string, name: string, word: string, withinMs: number): Promise<string | null> {
  const place = shortPlace(dir, name);
  if (place === null) return null;
  try {
    const outcome = await ask(place.path, word, withinMs);
    if (outcome === 'dead') await rm(join(dir, name), { force: true });
    return typeof outcome === 'string' ? null : outcome.answer;
  } finally {
    place.release();
  }
}

function ask(
  path: string,
  word: string,
  withinMs: number,
): Promise<{ readonly answer: string } | 'dead' | 'silent'> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const pieces: Buffer[] = [];
    const end = (outcome: { readonly answer: string } | 'dead' | 'silent') => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => end('silent'), withinMs);
    socket.once('connect', () => socket.write(`${word}\n`));
    socket.on('data', (piece) => pieces.push(piece));
    socket.once('close', () =>
      end(pieces.length === 0 ? 'silent' : { answer: Buffer.concat(pieces).toString() }),
    );
    socket.once('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ECONNREFUSED' ? 'dead' : 'silent'),
    );
  });
}

/**
 * A path to `dir`/`name` that fits into a socket address: as it is, relative to the working
 * directory, or on Linux through an open directory. null when none fits. `release` it once the socket is gone.
 */
function shortPlace(dir: string, name: string): { path: string; release(): void } | null {
  const plain = [join(dir, name), relative(process.cwd(), join(dir, name))];
  const path = plain.find((one) => Buffer.byteLength(one) <= longestPath);
  if (path !== undefined) return { path, release: () => {} };
  if (process.platform !== 'linux') return null;
  const descriptor = openSync(dir, 'r');
  return { path: `/proc/self/fd/${descriptor}/${name}`, release: () => closeSync(descriptor) };
}

const nothing: LimitUse = { requests: 0, tokens: 0, atOnce: 0 };

/** What counts against the limits of a key in the processes that run on this data directory, one entry a process. */
export async function readLimitUse(dataDir: string, keyId: string): Promise<readonly LimitUse[]> {
  return (await askProcesses(dataDir, `use ${keyId}`)).map(reported);
}

/** A process of this very program answers with what `LimitBook.usageOf` gives. */
function reported(answer: string): LimitUse {
  try {
    return JSON.parse(answer) ?? nothing;
  } catch {
    return nothing;
  }
}
