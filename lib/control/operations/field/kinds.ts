import { z } from 'zod';
import type { Field, FieldFacts, FieldKind } from '#lib/control/operations/field/field';
import { formatUsd, parseUsd, plainUsd } from '#lib/core/money';
import { parseSpan, plainSpan } from '#lib/core/span';

const largestInt = 2_147_483_647;
/** One billion dollars, which fits in a BIGINT of nano-dollars with room to add. */
const largestNano = 1_000_000_000n * 1_000_000_000n;
const largestFile = 4_000_000;
const uuidShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Times outside this range are typing errors, or overflow somewhere. */
const earliest = Date.UTC(2000, 0, 1);
const latest = Date.UTC(2200, 0, 1);

/** Line breaks, control characters, and those that reverse the direction of text. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** Whether a string is a UUID, so that it may be compared with one in the database. */
export function isUuid(text: string): boolean {
  return uuidShape.test(text);
}

function make<Value>(
  kind: FieldKind,
  facts: FieldFacts,
  schema: z.ZodType<Value>,
  fromText: (text: string) => unknown = (text) => text,
): Field<Value, true> {
  return { ...facts, kind, schema, fromText, clearable: false, required: true };
}

/** A field that may be null, which `none` and an empty string mean. */
function makeClearable<Value>(
  kind: FieldKind,
  facts: FieldFacts,
  schema: z.ZodType<Value>,
  read: (text: string) => unknown,
): Field<Value, true> {
  const fromText = (text: string) => (text === 'none' || text === '' ? null : read(text));
  return { ...make(kind, facts, schema, fromText), clearable: true };
}

/** A whole number in ASCII digits; anything else stays a string, for the schema to refuse. */
function number(text: string): unknown {
  return /^\s*-?\d{1,16}\s*$/.test(text) ? Number(text) : text;
}

const oneLine = (max: number, what: string) =>
  z
    .string(`${what} must be a string`)
    .trim()
    .max(max, `${what} may have at most ${max} characters`)
    .refine(
      (text) => !unprintable.test(text) && text.isWellFormed(),
      `${what} must not contain line breaks or control characters`,
    );

/** A display name: shown in tables, in the log and in terminals. */
export function name(facts: FieldFacts): Field<string, true> {
  return make('text', { placeholder: 'N', ...facts }, oneLine(100, 'a name').min(1, 'a name is required'));
}

/** A line of text, or null for none. */
export function line(facts: FieldFacts, max = 500): Field<string | null, true> {
  return makeClearable('text', { placeholder: 'TEXT', ...facts }, oneLine(max, 'it').nullable(), String);
}

/** A line of text that must not be empty. */
export function words(facts: FieldFacts, max = 500): Field<string, true> {
  return make('text', { placeholder: 'TEXT', ...facts }, oneLine(max, 'it').min(1, 'it must not be empty'));
}

const severalLines = (max: number) =>
  z
    .string('it must be a string')
    .trim()
    .max(max, `it may have at most ${max} characters`)
    .refine(
      (text) => !unprintable.test(text.replace(/[\n\r\t]/g, ' ')) && text.isWellFormed(),
      'it must not contain control characters',
    );

/** Text that may have several lines; it must not be empty. @param max characters. */
export function prose(facts: FieldFacts, max: number): Field<string, true> {
  return make('text', { placeholder: 'TEXT', ...facts }, severalLines(max).min(1, 'it must not be empty'));
}

/**
 * Lines of text, or null for none.
 * @param max characters.
 * @param fault what is wrong with them, and what to do; null: nothing.
 */
export function lines(
  facts: FieldFacts,
  max: number,
  fault: (text: string) => string | null,
): Field<string | null, true> {
  const schema = severalLines(max).check((context) => {
    const message = fault(context.value);
    if (message !== null) context.issues.push({ code: 'custom', message, input: context.value });
  });
  return makeClearable('text', { placeholder: 'TEXT', ...facts, lines: true }, schema.nullable(), String);
}

/** A number from 0 to 1. */
export function share(facts: FieldFacts): Field<number, true> {
  const message = 'must be a number from 0 to 1';
  const schema = z.number(message).min(0, message).max(1, message);
  const read = (text: string) => (/^\s*\d*\.?\d+\s*$/.test(text) ? Number(text) : text);
  return make('count', { placeholder: 'N', ...facts }, schema, read);
}

/** A line of text of a certain form. @param message says what to write. */
export function pattern(facts: FieldFacts, form: RegExp, message: string): Field<string, true> {
  return make('text', { placeholder: 'TEXT', ...facts }, z.string(message).trim().regex(form, message));
}

/** A limit or maximum: a positive whole number, or null for none; 0 is refused (contract: limits/positive). */
export function limit(facts: FieldFacts): Field<number | null, true> {
  const message = `a limit must be a whole number from 1 to ${largestInt}`;
  const schema = z.int(message).min(1, message).max(largestInt, message).nullable();
  return makeClearable('count', { placeholder: 'N', empty: 'No limit', ...facts }, schema, number);
}

/** A whole number in a range. */
export function count(facts: FieldFacts, range: { min: number; max: number }): Field<number, true> {
  const message = `must be a whole number from ${range.min} to ${range.max}`;
  const schema = z.int(message).min(range.min, message).max(range.max, message);
  return make('count', { placeholder: 'N', ...facts }, schema, number);
}

/** A time in ms, which people may also write with its unit: "2 s". */
export function span(facts: FieldFacts, maxMs: number): Field<number, true> {
  const message = `must be a time such as "2 s", or a whole number of milliseconds, of at most ${plainSpan(maxMs)}`;
  const schema = z.int(message).min(0, message).max(maxMs, message);
  return make('count', { placeholder: 'TIME', ...facts }, schema, (text) => parseSpan(text) ?? number(text));
}

/** Dollars in nano-dollars; anything else is refused with an explanation. */
const dollars = z.string('must be dollars as a decimal string, such as "0.25"').transform((text, context) => {
  try {
    const nano = parseUsd(text);
    if (nano <= largestNano && nano >= -largestNano) return nano;
    context.addIssue(`an amount may be at most ${formatUsd(largestNano)} dollars`);
  } catch {
    context.addIssue('must be an amount of dollars, such as 25 or 0.25, with at most 9 decimals');
  }
  return z.NEVER;
});

/** A cap or quota: positive dollars in nano-dollars, or null for none. */
export function cap(facts: FieldFacts): Field<bigint | null, true> {
  const schema = dollars.refine((nano) => nano > 0n, 'a cap must be more than 0 dollars').nullable();
  const shown = { placeholder: 'USD', unit: 'USD', empty: 'No cap', ...facts };
  return makeClearable('money', shown, schema, plainUsd);
}

/** An allowance in nano-dollars: 0 or more; `none` means 0. */
export function allowance(facts: FieldFacts): Field<bigint, true> {
  const schema = dollars.refine(
    (nano) => nano >= 0n,
    'must be 0 dollars or more; to subtract from a balance, post a ledger line',
  );
  const read = (text: string) => (text === 'none' ? '0' : plainUsd(text));
  return make('money', { placeholder: 'USD', unit: 'USD', ...facts }, schema, read);
}

/** Dollars in nano-dollars, positive or negative. */
export function amount(facts: FieldFacts): Field<bigint, true> {
  const schema = dollars.refine((nano) => nano !== 0n, 'an amount of 0 changes nothing');
  return make('money', { placeholder: 'USD', unit: 'USD', ...facts }, schema, plainUsd);
}

const timeMessage = 'must be a date such as 2027-01-31 or a time such as 2027-01-31T12:00:00Z';
/** ISO with an offset or Z. A date without a time, which `parseFields` reads in a zone, is here its start in UTC. */
const aTime = z
  .string(timeMessage)
  .trim()
  .pipe(z.union([z.iso.datetime({ offset: true }), z.iso.date()], timeMessage))
  .transform((text) => new Date(text))
  .refine(
    (at) => at.getTime() >= earliest && at.getTime() < latest,
    'must be between the years 2000 and 2200',
  );

/** When something ends, or null for never: times in the past are refused, and a date includes that day. */
export function expiry(facts: FieldFacts): Field<Date | null, true> {
  const shown = { placeholder: 'ISO', empty: 'Never', ...facts };
  return { ...makeClearable('moment', shown, aTime.nullable(), String), day: 'ends' };
}

/** When something begins, or an edge of a range: a date is the beginning of that day. */
export function time(facts: FieldFacts): Field<Date, true> {
  return { ...make('moment', { placeholder: 'ISO', ...facts }, aTime), day: 'begins' };
}

/** Models by their slugs, or null for all models. `run` has to check that they exist. */
export function models(facts: FieldFacts): Field<string[] | null, true> {
  const slug = oneLine(200, 'a model id').min(1, 'a model id is required');
  const schema = z
    .array(slug, 'must be a list of model ids')
    .min(1, 'name at least one model')
    .max(2000, 'name at most 2000 models')
    .transform((slugs) => [...new Set(slugs)])
    .nullable();
  const split = (text: string) => text.split(',').flatMap((part) => part.trim() || []);
  return makeClearable('models', { placeholder: 'a,b', empty: 'All models', ...facts }, schema, split);
}

/** Yes or no: "on" or "off" on the command line. */
export function toggle(facts: FieldFacts): Field<boolean, true> {
  const words: Readonly<Record<string, boolean>> = { on: true, off: false };
  const read = (text: string) => words[text] ?? text;
  const message = 'must be on or off (in JSON: true or false)';
  return make('switch', { placeholder: 'on|off', ...facts }, z.boolean(message), read);
}

/** One of a few words. */
export function choice<const Word extends string>(
  facts: FieldFacts,
  choices: readonly Word[],
): Field<Word, true> {
  const schema = z.enum(choices, `must be one of ${choices.join(', ')}`);
  return { ...make('choice', { placeholder: choices.join('|'), ...facts }, schema), choices };
}

/** The id of a row. A malformed id finds nothing, just like an id of another workspace. */
export function id(facts: FieldFacts): Field<string, true> {
  const schema = oneLine(200, 'an id').transform((text) => text.toLowerCase());
  return make('id', { placeholder: 'ID', ...facts }, schema);
}

/** A whole document: JSON in a body, a JSON or YAML file on the command line. */
export function document<Value>(facts: FieldFacts, schema: z.ZodType<Value>): Field<Value, true> {
  const read = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };
  return make('document', facts, schema, read);
}

/** A list of strings. */
export function wordList(facts: FieldFacts): Field<string[], true> {
  const schema = z.array(oneLine(500, 'an entry'), 'must be a list of strings').max(10_000);
  return make('words', facts, schema, (text) => text.split(',').map((part) => part.trim()));
}

/** Files with their names: a list in JSON, a file or a directory on the command line. */
export function files(facts: FieldFacts): Field<{ name: string; text: string }[], true> {
  const file = z.strictObject({
    name: oneLine(500, 'a file name').min(1, 'a file name is required'),
    text: z
      .string('the content of a file must be a string')
      .max(largestFile, 'a file may have at most 4 million characters'),
  });
  const schema = z
    .array(file, 'must be a list of files, each with name and text')
    .min(1, 'at least one file is required')
    .max(200, 'at most 200 files are allowed');
  return make('files', { placeholder: 'FILE', ...facts }, schema);
}

/** A file with its name, or the address where one is: on the command line, what begins like an address is one. */
export function origin(facts: FieldFacts): Field<{ url: string } | { name: string; text: string }, true> {
  const shape = z.union(
    [
      z.strictObject({ url: oneLine(2_000, 'an address').min(1, 'an address is required') }),
      z.strictObject({
        name: oneLine(500, 'a file name').min(1, 'a file name is required'),
        text: z.string(),
      }),
    ],
    'must be an address ("url"), or a file with "name" and "text"',
  );
  return make('origin', { placeholder: 'FILE|URL', ...facts }, shape, (text) => ({ url: text }));
}
