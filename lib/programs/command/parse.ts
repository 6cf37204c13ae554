import { parseArgs } from 'node:util';
import { messageOf } from '#lib/core/errors';
import { type Command, type Input, UsageError, usageLine } from '#lib/programs/command/command';

export interface Parsed {
  readonly command: Command;
  readonly input: Input;
  readonly json: boolean;
}

/**
 * Finds the command of a command line and reads its arguments.
 * @throws UsageError with the usage line that fits best.
 */
export function parse(argv: readonly string[], commands: readonly Command[]): Parsed {
  const [noun = '', verb = ''] = argv;
  const command =
    commands.find((one) => one.name === `${noun} ${verb}`) ?? commands.find((one) => one.name === noun);
  if (!command) throw unknown(noun, verb, commands);
  const usage = usageLine(command);
  const { values, positionals } = read(argv.slice(command.name.split(' ').length), command, usage);
  const { json, ...options }: Record<string, unknown> = values;
  if (positionals.length !== command.positionals.length) {
    const missing = command.positionals[positionals.length];
    throw new UsageError(
      missing ? `${missing} is missing` : `too many arguments: ${positionals.at(-1)}`,
      usage,
    );
  }
  const lacking = command.required.find((name) => options[name] === undefined);
  if (lacking) throw new UsageError(`--${lacking} is missing`, usage);
  const given = Object.entries(options).map(([name, value]) => [name, unshield(String(value))]);
  return {
    command,
    json: json === true,
    input: { positionals: positionals.map(unshield), options: Object.fromEntries(given) },
  };
}

function read(args: readonly string[], command: Command, usage: string) {
  const options = Object.fromEntries(command.options.map((name) => [name, { type: 'string' as const }]));
  try {
    return parseArgs({
      args: spellOut(args, command).map(shield),
      options: { ...options, json: { type: 'boolean' as const } },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new UsageError(unshield(messageOf(error)), usage);
  }
}

/** `--operator` without a value means `--operator on`, also before an argument (`apply --prune FILE`). */
function spellOut(args: readonly string[], { switches = [], positionals }: Command): string[] {
  return args.flatMap((arg, at) => {
    const alone = switches.includes(arg.slice(2)) && arg.startsWith('--');
    const next = args[at + 1];
    const bare = next === undefined || next.startsWith('--');
    const argument = positionals.length > 0 && next !== 'on' && next !== 'off';
    return alone && (bare || argument) ? [arg, 'on'] : [arg];
  });
}

/** A negative amount ("-5") is a value, not an option: a prefix hides it from the parser. */
function shield(argument: string): string {
  return /^-\d/.test(argument) ? `\u0000${argument}` : argument;
}

function unshield(argument: string): string {
  return argument.replaceAll('\u0000', '');
}

function unknown(noun: string, verb: string, commands: readonly Command[]): UsageError {
  const same = commands.filter((one) => one.name.split(' ')[0] === noun);
  const lines = (same.length > 0 ? same : commands).map(usageLine).join('\n');
  if (noun === '') return new UsageError('choose a command', lines);
  if (same.length === 0) return new UsageError(`there is no "${noun}"`, lines);
  return new UsageError(
    verb === '' ? `choose a command for "${noun}"` : `there is no command "${noun} ${verb}"`,
    lines,
  );
}
