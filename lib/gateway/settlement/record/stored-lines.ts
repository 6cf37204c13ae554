import type { CostLine } from '#lib/core/metering/cost-line';
import { ownFeeClass } from '#lib/core/metering/own-fee';

/** The lines of a charge as calls, jobs and adjustments store them: by position, in the order of a `CostLine`. */
export function storedCostLines(json: unknown): CostLine[] {
  if (!Array.isArray(json)) return [];
  return json.map((line: unknown) => {
    const [name, quantity, unitPriceNano]: readonly unknown[] = Array.isArray(line) ? line : [];
    return {
      class: String(name ?? ''),
      quantity: Number(quantity ?? 0),
      unitPriceNano: BigInt(String(unitPriceNano ?? '0')),
    };
  });
}

/** In SQL, of one element of such lines under this name. */
export const lineSql = {
  class: (line: string) => `${line}->>0`,
  quantity: (line: string) => `(${line}->>1)::numeric`,
  /** Nano-dollars × 10⁶: quantity times price. */
  share: (line: string) => `(${line}->>1)::numeric * (${line}->>2)::numeric`,
};

/** The list price of a charge by an own key, nano-dollars, as an expression of SQL; 0 of any other. */
export const ownListSql = (lines: string, flags: string) => `
  CASE WHEN 'own_key' = ANY (${flags}) THEN coalesce((
    SELECT sum(${lineSql.quantity('l')}) FROM json_array_elements(coalesce(${lines}, '[]')) AS l
    WHERE ${lineSql.class('l')} = '${ownFeeClass}'), 0) ELSE 0 END`;
