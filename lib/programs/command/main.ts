import { ControlRefused } from '#lib/control/operations/refusal';
import { FileRefused } from '#lib/core/schemas/document';
import { DataDirInUse } from '#lib/platform/data/embedded';
import { EnvError } from '#lib/platform/env/env';
import { ownVersion } from '#lib/platform/own-version';
import {
  type Command,
  CommandRefused,
  type Output,
  UsageError,
  usageLine,
} from '#lib/programs/command/command';
import { createContext } from '#lib/programs/command/context';
import { parse } from '#lib/programs/command/parse';

/** One file for each noun, loaded when it is needed, so that commands start fast. */
const nouns: Readonly<Record<string, () => Promise<readonly Command[]>>> = {
  workspace: declared,
  key: declared,
  'management-key': declared,
  user: declared,
  member: declared,
  invitation: declared,
  alert: declared,
  webhook: declared,
  audit: declared,
  catalogue: declared,
  provider: declared,
  price: declared,
  secret: declared,
  policy: declared,
  route: declared,
  credit: declared,
  call: declared,
  content: async () => [...(await declared()), ...(await import('#lib/programs/command/content')).content],
  feedback: declared,
  usage: declared,
  view: declared,
  ledger: declared,
  status: declared,
  incident: declared,
  announcement: declared,
  fleet: declared,
  verification: declared,
  demo: async () => [...(await declared()), ...(await import('#lib/programs/command/demo')).demo],
  sandbox: async () => (await import('#lib/programs/command/sandbox')).sandbox,
  health: async () => (await import('#lib/programs/command/live/health')).health,
  doctor: async () => (await import('#lib/programs/command/doctor')).doctor,
};

/** The operations of the control plane. */
async function declared(): Promise<readonly Command[]> {
  const [{ commandsOf }, { operations }] = await Promise.all([
    import('#lib/programs/command/declared'),
    import('#lib/control/operations/operations'),
  ]);
  return commandsOf(operations);
}

/** The commands of a noun; all commands if there is no such noun. */
async function commandsFor(noun: string | undefined): Promise<readonly Command[]> {
  const known = noun !== undefined && Object.hasOwn(nouns, noun) ? nouns[noun] : undefined;
  if (known) return known();
  const loads = [...new Set(Object.values(nouns))];
  const all = (await Promise.all(loads.map((load) => load()))).flat();
  return [...new Map(all.map((one) => [one.name, one])).values()];
}

/** Usage lines; for a single command also its summary and options. */
function helpText(commands: readonly Command[], [noun, verb]: readonly string[]): string {
  const one = commands.find(({ name }) => name === `${noun} ${verb}` || name === noun);
  if (!one) return commands.map(usageLine).join('\n');
  const width = Math.max(0, ...(one.help ?? []).map(([option]) => option.length));
  const lines = (one.help ?? []).map(([option, text]) => `  ${option.padEnd(width)}  ${text}`);
  return [usageLine(one), ...(one.summary ? [one.summary] : []), ...lines].join('\n');
}

export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/**
 * Runs one command line (contract: operations/command-line).
 * @returns 0: done; 1: refused, with the reason on standard error; 2: invalid, with the usage line there.
 */
export async function runCommand(argv: readonly string[], streams: Streams): Promise<0 | 1 | 2> {
  if (argv[0] === 'help' || argv.includes('--help') || argv.includes('-h')) {
    const words = argv.filter((word) => word !== 'help' && !word.startsWith('-'));
    streams.out(`${helpText(await commandsFor(words[0]), words)}\n`);
    return 0;
  }
  if (argv[0] === '--version') {
    streams.out(`${ownVersion()}\n`);
    return 0;
  }
  const context = createContext();
  try {
    const { command, input, json } = parse(argv, await commandsFor(argv[0]));
    const output = await command.run(context, input);
    streams.out(`${json ? JSON.stringify(output.json) : output.text}\n`);
    return verdict(output, streams);
  } catch (error) {
    return explain(error, streams);
  } finally {
    await context.close();
  }
}

function verdict(output: Output, streams: Streams): 0 | 1 {
  if (output.failed === undefined) return 0;
  streams.err(`${output.failed}\n`);
  return 1;
}

function explain(error: unknown, streams: Streams): 1 | 2 {
  if (error instanceof UsageError) {
    streams.err(`${error.message}\nUsage:\n${error.usage.replace(/^/gm, '  ')}\n`);
    return 2;
  }
  const refusals = [CommandRefused, ControlRefused, FileRefused, EnvError, DataDirInUse];
  if (refusals.some((kind) => error instanceof kind)) {
    streams.err(`${error instanceof Error ? error.message : error}\n`);
    return 1;
  }
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  streams.err(`${error instanceof Error ? error.message || error.name : String(error)}${cause}\n`);
  return 1;
}
