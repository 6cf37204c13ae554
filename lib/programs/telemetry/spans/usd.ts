import type { CostLine } from '#lib/core/metering/cost-line';
import { type Usage, usageClasses } from '#lib/core/metering/usage';
import { whole } from '#lib/programs/telemetry/spans/gen-ai';
import type { Attribute } from '#lib/programs/telemetry/spans/span';

/** What something cost, in dollars for charts and in nano-dollars for books. */
export function costAttributes(costNano: bigint): Attribute[] {
  return [
    ['model_gateway.cost.usd', Number(costNano) / 1e9],
    ['model_gateway.cost.nano_usd', costNano],
  ];
}

/** Usage by our classes, which do not overlap as those of the conventions do; classes of 0 are left out. */
export function usageAttributes(usage: Partial<Usage>): Attribute[] {
  return usageClasses.flatMap((name): Attribute[] => {
    const figure = usage[name] ?? 0;
    return figure === 0 ? [] : [[`model_gateway.usage.${name}`, whole(figure)]];
  });
}

/** The lines of a charge as JSON, as in `gateway call show`, with prices in nano-dollars; none if there are none. */
export function lineAttributes(lines: readonly CostLine[]): Attribute[] {
  if (lines.length === 0) return [];
  const written = lines.map(({ class: name, quantity, unitPriceNano }) => {
    return {
      class: name,
      quantity,
      unitPriceNano: `${unitPriceNano}`,
      costNano: shareOf(quantity, unitPriceNano),
    };
  });
  return [['model_gateway.cost.lines', JSON.stringify(written)]];
}

/** What a line adds to the charge before the one rounding: nano-dollars, exact to 10⁻⁶. */
function shareOf(quantity: number, unitPriceNano: bigint): string {
  const share = whole(quantity) * unitPriceNano;
  return `${share / 1_000_000n}.${`${share % 1_000_000n}`.padStart(6, '0')}`;
}
