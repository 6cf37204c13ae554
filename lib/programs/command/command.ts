import type { Context } from '#lib/programs/command/context';

/** What a command was given, already told apart by `parse`. */
export interface Input {
  readonly positionals: readonly string[];
  /** Options by name; only those that were given. */
  readonly options: Readonly<Record<string, string>>;
}

/** What a command says: one JSON document, or the same for people. */
export interface Output {
  readonly json: unknown;
  readonly text: string;
  /** Set when the answer itself is bad news: exit 1, this reason on standard error. */
  readonly failed?: string;
}

/** One noun and verb of the command line (contract: operations/command-line). */
export interface Command {
  /** "key create"; a noun alone where it has one deed. */
  readonly name: string;
  /** What follows the name on the usage line. */
  readonly usage: string;
  /** What it does, in a sentence, and what each option is; printed by `--help`. */
  readonly summary?: string;
  readonly help?: readonly (readonly [option: string, text: string])[];
  /** Names of the positional arguments, all required. */
  readonly positionals: readonly string[];
  /** Names of the options; each takes a value. */
  readonly options: readonly string[];
  /** Names of the flags: options without a value, given as "on" in `Input.options`. */
  readonly flags?: readonly string[];
  /** Those of them that mean "on" when they stand without a value. */
  readonly switches?: readonly string[];
  readonly required: readonly string[];
  run(context: Context, input: Input): Promise<Output>;
}

/** The command was refused: exit 1; the message says what to do instead. */
export class CommandRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandRefused';
  }
}

/** The command line itself is wrong: exit 2, with the usage line of what was meant. */
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
