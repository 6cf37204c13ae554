import { z } from 'zod';
import { noUsage, type Usage } from '#lib/metering/usage';
import { formatUsd } from '#lib/money';

/** One price class of a charge (decisions §6). */
export const chargeLine = z.object({
  class: z.string(),
  quantity: z.number(),
  unitPrice: z.string().meta({ description: 'Dollars per million units.' }),
  cost: z.string().meta({
    description: 'Exact share in dollars before the one rounding up, so it may have up to 15 decimals.',
  }),
});
type ChargeLine = z.output<typeof chargeLine>;

/** Fields of a JSON column; {} when it holds no object. */
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

/** Lines as settlement stores them: bigint as decimal string, `cost` in nano-dollars with decimals. */
export function storedLines(json: unknown): ChargeLine[] {
  if (!Array.isArray(json)) return [];
  return json.map(fieldsOf).map((line) => ({
    class: String(line.class ?? ''),
    quantity: Number(line.quantity ?? 0),
    unitPrice: formatUsd(BigInt(String(line.unitPriceNano ?? '0'))),
    cost: nanoDecimalToUsd(String(line.cost ?? '0')),
  }));
}

/** "1500000.25" nano-dollars → "0.00150000025" dollars: the point moves nine places, digits stay. */
function nanoDecimalToUsd(text: string): string {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const digits = whole.padStart(10, '0');
  const decimals = (digits.slice(-9) + fraction).replace(/0+$/, '');
  const sign = text.startsWith('-') ? '-' : '';
  return `${sign}${digits.slice(0, -9).replace(/^0+(?=\d)/, '')}${decimals ? `.${decimals}` : ''}`;
}
