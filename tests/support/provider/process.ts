import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BeginLine, EndLine, TruthLine } from '#tools/sandbox/truth-log';

/** Filters of log lines; none: all lines. */
interface Which {
  readonly event?: 'begin' | 'end';
  /** The request's id. */
  readonly id?: string;
  /** The model that the provider was asked for; only end lines. */
  readonly model?: string;
  /** Text in the request's path or body; only begin lines. */
  readonly text?: string;
}

/** The simulated provider as a separate process, and its log: the tests' source of expected costs. */
export interface SandboxProcess {
  /** Its versioned root. */
  readonly url: string;
  readonly key: string;
  /** Requests whose path or body contains this text, in order. */
  seen(text: string): Promise<BeginLine[]>;
  /** The first request whose path or body contains this text, as soon as it has arrived. */
  begun(text: string): Promise<BeginLine>;
  /**
   * Continues the answer to a request that contains this text, if it stalls, before its first byte or later.
   */
  release(text: string): Promise<void>;
  /** How a request ended, as soon as it has. */
  ended(id: string): Promise<EndLine>;
  /** The matching lines of the last 20,000; do not read all lines of a shared provider. */
  lines(which: Which): Promise<TruthLine[]>;
  /** Keeps only what is needed of each line, if there are too many for memory. */
  linesAs<Kept>(keep: (line: TruthLine) => Kept): Promise<Kept[]>;
  close(): Promise<void>;
}

const program = fileURLToPath(new URL('../../../tools/sandbox/main.ts', import.meta.url));
/** The provider itself waits for a line for at most a minute. */
const patienceMinutes = 3;

/**
 * @param logFile gets every line of its log; without it, only the last 20,000 are kept.
 * @param key that every request needs; "": none, as with a server on one's own machine.
 */
export async function startSandboxProcess(
  logFile?: string,
  key = 'sandbox-test-key',
): Promise<SandboxProcess> {
  const args = ['--tied', ...(key ? ['--key', key] : []), ...(logFile ? ['--log', logFile] : [])];
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const first = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the simulated provider ended with ${code}`)));
    createInterface(child.stdout).once('line', resolve);
  });
  const { url } = JSON.parse(first);
  return {
    ...joinSandbox(url, key),
    ...(logFile ? { linesAs: (keep) => readFile(logFile, keep) } : {}),
    close: async () => {
      child.stdin.end();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function readFile<Kept>(file: string, keep: (line: TruthLine) => Kept): Promise<Kept[]> {
  const lines: Kept[] = [];
  for await (const line of createInterface(createReadStream(file))) lines.push(keep(JSON.parse(line)));
  return lines;
}

/** Joins a provider that another process has started. `close` leaves it running. */
export function joinSandbox(url: string, key: string): SandboxProcess {
  const { origin } = new URL(url);
  const read = async (query: string): Promise<TruthLine[]> => {
    const answer = await fetch(`${origin}/_log?${query}`, { headers: { authorization: `Bearer ${key}` } });
    return (await answer.json()).lines;
  };
  const begins = async (text: string, waitMs = 0) => {
    const lines = await read(`event=begin&text=${encodeURIComponent(text)}&wait=${waitMs}`);
    return lines.filter((line) => line.event === 'begin');
  };
  return {
    url,
    key,
    seen: (text) => begins(text),
    begun: async (text) => {
      for (let minute = 0; minute < patienceMinutes; minute += 1) {
        const [line] = await begins(text, 60_000);
        if (line) return line;
      }
      throw new Error(`the provider has not been asked for ${text} within ${patienceMinutes} minutes`);
    },
    release: async (text) => {
      const headers = { authorization: `Bearer ${key}` };
      const target = `${origin}/_release?text=${encodeURIComponent(text)}`;
      const { released } = await (await fetch(target, { method: 'POST', headers })).json();
      if (released !== 1) throw new Error(`${released} answers are under way for ${text}, not one`);
    },
    ended: async (id) => {
      for (let minute = 0; minute < patienceMinutes; minute += 1) {
        const [line] = await read(`event=end&id=${id}&wait=60000`);
        if (line?.event === 'end') return line;
      }
      throw new Error(`the provider has not ended ${id} within ${patienceMinutes} minutes`);
    },
    lines: (which) => read(new URLSearchParams({ ...which }).toString()),
    linesAs: async (keep) => (await read('since=0')).map(keep),
    close: async () => {},
  };
}
