import type { Context } from '#lib/programs/command/context';

/** The arguments of a command, as read by `parse`. */
export interface Input {
  readonly positionals: readonly string[];
  /** Options by name; only those that were given. */
  readonly options: Readonly<Record<string, string>>;
}

/** The output of a command: a JSON document, and the same as text. */
export interface Output {
  readonly json: unknown;
  readonly text: string;
  /** Set if the answer itself is bad news: exits with 1 and this reason on standard error. */
  readonly failed?: string;
}

/** One noun and verb of the command line (contract: operations/command-line). */
export interface Command {
  /** "key create"; only the noun if it has a single command. */
  readonly name: string;
  /** What follows the name on the usage line. */
  readonly usage: string;
  /** What it does, in a sentence, and the meaning of each option; printed by `--help`. */
  readonly summary?: string;
  readonly help?: readonly (readonly [option: string, text: string])[];
  /** Names of the positional arguments, all required. */
  readonly positionals: readonly string[];
  /** Names of the options; each takes a value. */
  readonly options: readonly string[];
  /** Those of them that mean "on" if they have no value. */
  readonly switches?: readonly string[];
  readonly required: readonly string[];
  run(context: Context, input: Input): Promise<Output>;
}

/** The command was refused: exits with 1; the message says what to do instead. */
export class CommandRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandRefused';
  }
}

/** The command line is invalid: exits with 2 and the usage line of the command. */
export class UsageError extends Error {
  readonly usage: string;
  constructor(message: string, usage: string) {
    super(message);
    this.name = 'UsageError';
    this.usage = usage;
  }
}

export function usageLine(command: Command): string {
  return `gateway ${command.name}${command.usage ? ` ${command.usage}` : ''}`;
}
