import { z } from 'zod';
import type { Field, FieldFacts, FieldKind } from '#lib/control/operations/field/field';
import { formatUsd, parseUsd } from '#lib/core/money';

const largestInt = 2_147_483_647;
/** One billion dollars: what a BIGINT of nano-dollars holds with room to add. */
const largestNano = 1_000_000_000n * 1_000_000_000n;
const largestFile = 4_000_000;
const uuidShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Times outside are typing errors, or overflow what reads them. */
const earliest = Date.UTC(2000, 0, 1);
const latest = Date.UTC(2200, 0, 1);

/** Line ends, control characters, and those that turn the text behind them round. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** Whether a text is a UUID, so that it may be compared with one in the database. */
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

/** A field that may be null, which `none` and an empty text mean. */
function makeClearable<Value>(
  kind: FieldKind,
  facts: FieldFacts,
  schema: z.ZodType<Value>,
  read: (text: string) => unknown,
): Field<Value, true> {
  const fromText = (text: string) => (text === 'none' || text === '' ? null : read(text));
  return { ...make(kind, facts, schema, fromText), clearable: true };
}

/** A whole number written in ASCII digits; anything else stays text, for the schema to refuse. */
function number(text: string): unknown {
  return /^\s*-?\d{1,16}\s*$/.test(text) ? Number(text) : text;
}

const oneLine = (max: number, what: string) =>
  z
    .string(`${what} is a text`)
    .trim()
    .max(max, `${what} has at most ${max} characters`)
    .refine(
      (text) => !unprintable.test(text) && text.isWellFormed(),
      `${what} has no line breaks or control characters`,
    );

/** What people call a thing: it stands in tables, in the log and in a terminal. */
export function name(facts: FieldFacts): Field<string, true> {
  return make('text', { placeholder: 'N', ...facts }, oneLine(100, 'a name').min(1, 'a name is needed'));
}

/** A line of free text, or null for none. */
export function line(facts: FieldFacts, max = 500): Field<string | null, true> {
  return makeClearable('text', { placeholder: 'TEXT', ...facts }, oneLine(max, 'it').nullable(), String);
}

/** A line of text that must say something. */
export function words(facts: FieldFacts, max = 500): Field<string, true> {
  return make('text', { placeholder: 'TEXT', ...facts }, oneLine(max, 'it').min(1, 'it must not be empty'));
}

/** A line of text of a certain form. @param message what to write instead of another one. */
export function pattern(facts: FieldFacts, form: RegExp, message: string): Field<string, true> {
  return make('text', { placeholder: 'TEXT', ...facts }, z.string(message).trim().regex(form, message));
}

/** A limit or maximum: a positive whole number, or null for none; 0 is refused (contract: limits/positive). */
export function limit(facts: FieldFacts): Field<number | null, true> {
  const message = `a limit is a whole number from 1 to ${largestInt}`;
  const schema = z.int(message).min(1, message).max(largestInt, message).nullable();
  return makeClearable('count', { placeholder: 'N', empty: 'No limit', ...facts }, schema, number);
}

/** A whole number in a range. */
export function count(facts: FieldFacts, range: { min: number; max: number }): Field<number, true> {
  const message = `write a whole number from ${range.min} to ${range.max}`;
  const schema = z.int(message).min(range.min, message).max(range.max, message);
  return make('count', { placeholder: 'N', ...facts }, schema, number);
}

/** Dollars in nano-dollars; anything else is refused in words. */
const dollars = z.string('write dollars as a decimal string, like "0.25"').transform((text, context) => {
  try {
    const nano = parseUsd(text);
    if (nano <= largestNano && nano >= -largestNano) return nano;
    context.addIssue(`an amount is at most ${formatUsd(largestNano)} dollars`);
  } catch {
    context.addIssue('write dollars as a decimal string, like "0.25", with at most 9 decimals');
  }
  return z.NEVER;
});

/** A cap or quota: positive dollars in nano-dollars, or null for none. */
export function cap(facts: FieldFacts): Field<bigint | null, true> {
  const schema = dollars.refine((nano) => nano > 0n, 'a cap is more than 0 dollars').nullable();
  const shown = { placeholder: 'USD', unit: 'USD', empty: 'No cap', ...facts };
  return makeClearable('money', shown, schema, String);
}

/** An allowance in nano-dollars: 0 or more; `none` means 0. */
export function allowance(facts: FieldFacts): Field<bigint, true> {
  const schema = dollars.refine((nano) => nano >= 0n, 'credit is 0 dollars or more; a ledger line corrects');
  const read = (text: string) => (text === 'none' ? '0' : text);
  return make('money', { placeholder: 'USD', unit: 'USD', ...facts }, schema, read);
}

/** Dollars in nano-dollars, above or below 0. */
export function amount(facts: FieldFacts): Field<bigint, true> {
  const schema = dollars.refine((nano) => nano !== 0n, 'an amount of 0 changes nothing');
  return make('money', { placeholder: 'USD', unit: 'USD', ...facts }, schema);
}

const timeMessage = 'write a day like 2027-01-31, or a time like 2027-01-31T12:00:00Z';
/** ISO with an offset or Z. A date without a time, which `parseFields` reads in a zone, is its start in UTC here. */
const aTime = z
  .string(timeMessage)
  .trim()
  .pipe(z.union([z.iso.datetime({ offset: true }), z.iso.date()], timeMessage))
  .transform((text) => new Date(text))
  .refine((at) => at.getTime() >= earliest && at.getTime() < latest, 'a time lies between 2000 and 2200');

/** When something ends, or null for never: one that is over is refused, and a date includes that day. */
export function expiry(facts: FieldFacts): Field<Date | null, true> {
  const shown = { placeholder: 'ISO', empty: 'Never', ...facts };
  return { ...makeClearable('moment', shown, aTime.nullable(), String), day: 'ends' };
}

/** When something begins, or an edge of a range of time: a date is the beginning of that day. */
export function time(facts: FieldFacts): Field<Date, true> {
  return { ...make('moment', { placeholder: 'ISO', ...facts }, aTime), day: 'begins' };
}

/** Models by their slugs, or null for all of them. Whether they exist is for `run` to ask. */
export function models(facts: FieldFacts): Field<string[] | null, true> {
  const slug = oneLine(200, 'a model id').min(1, 'a model id is needed');
  const schema = z
    .array(slug, 'write a list of model ids')
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
  const message = 'write on or off (as JSON true or false)';
  return make('switch', { placeholder: 'on|off', ...facts }, z.boolean(message), read);
}

/** One of a few words. */
export function choice<const Word extends string>(
  facts: FieldFacts,
  choices: readonly Word[],
): Field<Word, true> {
  const schema = z.enum(choices, `write one of ${choices.join(', ')}`);
  return { ...make('choice', { placeholder: choices.join('|'), ...facts }, schema), choices };
}

/** The id of a row. An id that is none finds nothing, so that it reads like one of another workspace. */
export function id(facts: FieldFacts): Field<string, true> {
  const schema = oneLine(200, 'an id').transform((text) => text.toLowerCase());
  return make('id', { placeholder: 'ID', ...facts }, schema);
}

/** A whole document: JSON in a body, a file of JSON or YAML on the command line. */
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

/** A list of texts that programs send. */
export function wordList(facts: FieldFacts): Field<string[], true> {
  const schema = z.array(oneLine(500, 'an entry'), 'write a list of texts').max(10_000);
  return make('words', facts, schema, (text) => text.split(',').map((part) => part.trim()));
}

/** Files with their names: as JSON a list, on the command line a file or a directory of them. */
export function files(facts: FieldFacts): Field<{ name: string; text: string }[], true> {
  const file = z.strictObject({
    name: oneLine(500, 'a file name').min(1, 'a file name is needed'),
    text: z
      .string('the text of a file is a text')
      .max(largestFile, 'a file has at most 4 million characters'),
  });
  const schema = z
    .array(file, 'write a list of files, each with its name and text')
    .min(1, 'give at least one file')
    .max(200, 'give at most 200 files');
  return make('files', { placeholder: 'FILE', ...facts }, schema);
}
