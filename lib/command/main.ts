import { call } from '#lib/command/call';
import { catalogue } from '#lib/command/catalogue';
import { type Command, CommandRefused, type Output, UsageError, usageLine } from '#lib/command/command';
import { createContext } from '#lib/command/context';
import { doctor } from '#lib/command/doctor';
import { key } from '#lib/command/key';
import { money } from '#lib/command/money';
import { parse } from '#lib/command/parse';
import { policy } from '#lib/command/policy';
import { route } from '#lib/command/route';
import { sandbox } from '#lib/command/sandbox';
import { user } from '#lib/command/user';
import { workspace } from '#lib/command/workspace';
import { DataDirInUse } from '#lib/data/embedded';
import { EnvError } from '#lib/env';
import { FileRefused } from '#lib/schemas/document';
import { VerbRefused } from '#lib/verbs/verb';

export const commands: readonly Command[] = [
  ...workspace,
  ...key,
  ...user,
  ...catalogue,
  ...policy,
  ...route,
  ...call,
  ...money,
  ...sandbox,
  ...doctor,
];

export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/**
 * Runs one command line (operations.md "Command line").
 * @returns 0 done, 1 refused (the reason on standard error), 2 usage (the right usage line there).
 */
export async function runCommand(argv: readonly string[], streams: Streams): Promise<0 | 1 | 2> {
  if (argv[0] === 'help' || argv.includes('--help') || argv.includes('-h')) {
    streams.out(`${helpFor(argv).map(usageLine).join('\n')}\n`);
    return 0;
  }
  const context = createContext();
  try {
    const { command, input, json } = parse(argv, commands);
    const output = await command.run(context, input);
    streams.out(`${json ? JSON.stringify(output.json) : output.text}\n`);
    return verdict(output, streams);
  } catch (error) {
    return explain(error, streams);
  } finally {
    await context.close();
  }
}

function helpFor(argv: readonly string[]): readonly Command[] {
  const same = commands.filter((command) => command.name.split(' ')[0] === argv[0]);
  return same.length > 0 ? same : commands;
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
  const refusals = [CommandRefused, VerbRefused, FileRefused, EnvError, DataDirInUse];
  if (refusals.some((kind) => error instanceof kind)) {
    streams.err(`${error instanceof Error ? error.message : error}\n`);
    return 1;
  }
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  streams.err(`${error instanceof Error ? error.message || error.name : String(error)}${cause}\n`);
  return 1;
}
