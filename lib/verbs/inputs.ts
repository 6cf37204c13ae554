import { z } from 'zod';
import { formatUsd, parseUsd } from '#lib/money';

/** One billion dollars: what a BIGINT of nano-dollars holds with room to add. */
const largestNano = 1_000_000_000n * 1_000_000_000n;

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
