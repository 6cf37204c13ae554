import { z } from 'zod';
import { noUsage, type Usage } from '#lib/core/metering/usage';
import { formatUsd } from '#lib/core/money';
import { storedCostLines } from '#lib/gateway/settlement/record/stored-lines';

/** One price class of a charge (contract: money/receipt). */
export const chargeLine = z.object({
  class: z.string(),
  quantity: z.number().describe('Tokens or units of the class.'),
  unitPrice: z.string().describe('Dollars per million units.'),
  cost: z
    .string()
    .describe('Exact share in dollars before rounding up once, so it may have up to 15 decimals.'),
});
type ChargeLine = z.output<typeof chargeLine>;

/** Fields of a JSON column; {} if it is not an object. */
function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** A usage as calls and jobs store it. */
export function storedUsage(json: unknown): Usage {
  const usage: Usage = { ...noUsage };
  for (const [name, value] of Object.entries(fieldsOf(json))) {
    if (name in usage && typeof value === 'number') Object.assign(usage, { [name]: value });
  }
  return usage;
}

/** Lines as settlement stores them, in dollars. */
export function storedLines(json: unknown): ChargeLine[] {
  return storedCostLines(json).map((line) => ({
    class: line.class,
    quantity: line.quantity,
    unitPrice: formatUsd(line.unitPriceNano),
    cost: shareInUsd(BigInt(line.quantity) * line.unitPriceNano),
  }));
}

/** Nano-dollars × 10⁶ as dollars, without trailing zeros. */
function shareInUsd(share: bigint): string {
  const digits = `${share}`.padStart(16, '0');
  const decimals = digits.slice(-15).replace(/0+$/, '');
  return `${digits.slice(0, -15)}${decimals ? `.${decimals}` : ''}`;
}
