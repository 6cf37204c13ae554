import { z } from 'zod';
import { badInput, quoted } from '#lib/control/operations/refusal';
import { dayBegin, dayEnd } from '#lib/core/charts/wall-time';
import { type Permission, rolesThatMay } from '#lib/core/role';

/** Decides the control on a form and the syntax on the command line. */
export type FieldKind =
  | 'text'
  | 'email'
  | 'password'
  | 'count'
  | 'money'
  | 'moment'
  | 'models'
  | 'switch'
  | 'choice'
  | 'id'
  | 'words'
  | 'document'
  | 'files'
  | 'origin';

/** What users and programs are told about a field; every adapter takes it from here. */
export interface FieldFacts {
  /** Label on a form; title in the API's document: "Daily cap". */
  readonly label: string;
  /** What it does, in a sentence or less; "" if the label is enough. */
  readonly help: string;
  /** Unit of an amount: "USD", "seconds", "requests a minute". */
  readonly unit?: string;
  /** Its name on the command line without dashes; default: its own name in kebab case. */
  readonly flag?: string;
  /** Placeholder of the value on a usage line: "USD". */
  readonly placeholder?: string;
  /** As JSON. */
  readonly example?: unknown;
  /** Never shown again: not in audit rows, logs, messages or addresses. */
  readonly secret?: boolean;
  /** The section of a form that contains it, initially closed; without one, it is at the top. */
  readonly group?: { readonly title: string; readonly help: string };
  /** Names of the words of a `choice` on a form; by default the word itself: "Degraded". */
  readonly choiceNames?: Readonly<Record<string, string>>;
  /** Whether a `text` may have several lines. */
  readonly lines?: boolean;
  /** What an empty box means: "No cap". */
  readonly empty?: string;
  /** Of `files`: names in a directory to leave out. */
  readonly leaveOut?: readonly string[];
  /** Permission needed to set this field, in addition to the operation's own. */
  readonly permission?: Permission;
}

/** One input of an operation. `Value` is what `run` gets for it. */
export interface Field<Value = unknown, Required extends boolean = boolean> extends FieldFacts {
  readonly kind: FieldKind;
  readonly required: Required;
  /** Its JSON, and the value that this becomes. */
  readonly schema: z.ZodType<Value>;
  /** The words of a `choice`. */
  readonly choices?: readonly string[];
  /** Whether null removes it: `none` on the command line, an empty field on a form. */
  readonly clearable: boolean;
  /** What a date without a time means in the workspace's zone: the end of that day (an expiry) or its beginning. */
  readonly day?: 'begins' | 'ends';
  /** A string of the command line, of a form or of an address as JSON; if it cannot be read, the string itself. */
  fromText(text: string): unknown;
}

export type Fields = Readonly<Record<string, Field>>;

/** What `run` gets: the required fields, and the other fields that were given. */
export type ValuesOf<F extends Fields> = {
  readonly [N in keyof F as F[N] extends Field<unknown, true> ? N : never]: ValueOf<F[N]>;
} & {
  readonly [N in keyof F as F[N] extends Field<unknown, true> ? never : N]?: ValueOf<F[N]> | undefined;
};
export type ValueOf<F> = F extends Field<infer Value> ? Value : never;

/** The same field, not required. */
export function optional<Value>(field: Field<Value>): Field<Value, false> {
  return { ...field, required: false };
}

/** All of them optional. */
export function allOptional<F extends Fields>(fields: F): { [N in keyof F]: Field<ValueOf<F[N]>, false> } {
  const entries = Object.entries(fields).map(([name, field]) => [name, optional(field)]);
  return Object.fromEntries(entries) as { [N in keyof F]: Field<ValueOf<F[N]>, false> };
}

/** Those that need no permission of their own need this one. */
export function withPermission<F extends Fields>(fields: F, permission: Permission): F {
  const entries = Object.entries(fields).map(([name, field]) => [name, { permission, ...field }]);
  return Object.fromEntries(entries) as F;
}

/** The schema of a whole input; undeclared fields are refused. */
function schemaOf(fields: Fields): z.ZodObject {
  return z.strictObject(
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [
        name,
        field.required ? field.schema : field.schema.optional(),
      ]),
    ),
  );
}

/** Dates without a time become moments in a zone; everything else is left to the schemas. */
function atDays(fields: Fields, input: unknown, zone: string): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  const moments = Object.entries(input).map(([name, value]) => {
    const day = Object.hasOwn(fields, name) ? fields[name]?.day : undefined;
    if (day === undefined || typeof value !== 'string') return [name, value];
    const moment = (day === 'ends' ? dayEnd : dayBegin)(value.trim(), zone);
    return [name, moment?.toISOString() ?? value];
  });
  return Object.fromEntries(moments);
}

/**
 * Reads an input.
 * @param zone IANA zone in which dates without a time are read (contract: control-plane/dates).
 * @throws ControlRefused for the first error, naming its field.
 */
export function parseFields<F extends Fields>(fields: F, input: unknown, zone = 'UTC'): ValuesOf<F> {
  const parsed = schemaOf(fields).safeParse(atDays(fields, input, zone));
  // `schemaOf` makes exactly the members that ValuesOf names.
  if (parsed.success) return parsed.data as ValuesOf<F>;
  const issue = parsed.error.issues[0];
  if (issue?.code === 'unrecognized_keys' && issue.path.length > 0) {
    const name = [...issue.path, issue.keys[0] ?? ''].map(String).join('.');
    throw badInput(printableName(name), 'unknown key; remove it');
  }
  if (issue?.code === 'unrecognized_keys') {
    const names = Object.keys(fields).join(', ') || 'none';
    throw badInput(printableName(issue.keys[0] ?? ''), `unknown field; the fields are: ${names}`);
  }
  const path = issue?.path.map(String).join('.') ?? '';
  const missing = issue?.code === 'invalid_type' && issue.path.length === 1 && isAbsent(input, issue.path[0]);
  const text = missing ? 'this field is required' : (issue?.message ?? 'this input cannot be read');
  throw badInput(path === '' ? null : printableName(path), text);
}

function isAbsent(input: unknown, name: PropertyKey | undefined): boolean {
  return typeof input === 'object' && input !== null && name !== undefined && !Object.hasOwn(input, name);
}

function printableName(name: string): string {
  return /^[\w.-]{1,80}$/.test(name) ? name : quoted(name);
}

/** Refuses an expiry in the past, which would end things at once. @throws ControlRefused. */
export function refusePast(fields: Fields, input: object, nowMs: number): void {
  for (const [name, value] of Object.entries(input)) {
    if (fields[name]?.day !== 'ends' || !(value instanceof Date) || value.getTime() > nowMs) continue;
    throw badInput(name, 'this time is in the past; choose a later one, or none');
  }
}

/** Help, unit and permission of a field, in sentences: "Shown in the ledger. Unit: USD." */
export function sentencesOf({ help, unit, permission }: FieldFacts): string {
  const told = help === '' || /[.?]$/.test(help) ? help : `${help}.`;
  const who = permission && `Requires the role ${rolesThatMay(permission)}.`;
  return [told, unit && `Unit: ${unit}.`, who].filter(Boolean).join(' ');
}

/** "maxOutputTokens" → "max-output-tokens". */
export function flagOf(name: string, field: FieldFacts): string {
  return field.flag ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
