import { z } from 'zod';
import { formatUsd, parseUsd } from '#lib/money';

const largestInt = 2_147_483_647;
/** One billion dollars: what a BIGINT of nano-dollars holds with room to add. */
const largestNano = 1_000_000_000n * 1_000_000_000n;

/** Whether a text names an IANA time zone ("UTC" included; offsets such as "+01:00" are none). */
function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** A limit or maximum: a positive whole number, or null (also "none"); 0 is refused (decisions §8). */
export const limit = z.union([z.number(), z.string(), z.null()]).transform((value, context) => {
  if (value === null || value === 'none') return null;
  const number = typeof value === 'number' ? value : /^\s*\d+\s*$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isInteger(number) && number >= 1 && number <= largestInt) return number;
  context.addIssue(`a limit is a whole number from 1 to ${largestInt}, or "none" for no limit`);
  return z.NEVER;
});

type Refuse = { addIssue(message: string): void };

/** Dollars in nano-dollars; anything else is refused in words. */
function readDollars(text: string, context: Refuse): bigint {
  try {
    const nano = parseUsd(text);
    if (nano <= largestNano && nano >= -largestNano) return nano;
    context.addIssue(`an amount is at most ${formatUsd(largestNano)} dollars`);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : 'not an amount in dollars');
  }
  return z.NEVER;
}

/** Dollars as a decimal string, in nano-dollars. */
export const dollars = z.string('write dollars as a decimal string, like "0.25"').transform(readDollars);

/** The configured allowance: dollars from 0 up; "none" is 0. */
export const allowance = z
  .string('write dollars as a decimal string, like "10", or "none"')
  .transform((value, context) => (value === 'none' ? 0n : readDollars(value, context)))
  .refine((nano) => nano >= 0n, 'credit is 0 dollars or more; post a negative ledger line instead');

export const timeZone = z
  .string()
  .trim()
  .refine(isTimeZone, 'not a known IANA time zone; write one like Europe/Berlin or UTC');

/** Line ends, control characters, and those that turn the text behind them round. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** What people call a thing: it stands in tables, in the log and in a terminal. */
export const name = z
  .string()
  .trim()
  .min(1, 'a name is needed')
  .max(100, 'a name has at most 100 characters')
  .refine((text) => !unprintable.test(text), 'a name has no line breaks or control characters');
