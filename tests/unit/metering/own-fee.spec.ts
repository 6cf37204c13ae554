import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { feeOf, feePointsIn, ownListNano, withFee } from '#lib/core/metering/own-fee';
import { divideUp } from '#lib/core/money';

const line = { class: 'input', quantity: 1_001, unitPriceNano: 1_000_003_000n };

describe('the fee of an own key (contract: own-keys/fee)', () => {
  it('is what its line says, rounded up once, for every list price and percentage', () => {
    const list = fc.bigInt({ min: 0n, max: 1_000_000_000_000_000n });
    fc.assert(
      fc.property(list, fc.integer({ min: 0, max: 10_000 }), (listNano, points) => {
        const lines = withFee([line], listNano, points);
        const fee = lines.at(-1);
        const charged = divideUp(BigInt(fee?.quantity ?? 0) * (fee?.unitPriceNano ?? 0n), 1_000_000n);
        expect(charged).toBe(feeOf(listNano, points));
        expect(ownListNano(lines)).toBe(listNano);
        expect(feePointsIn(lines)).toBe(points);
      }),
    );
  });

  it('is nothing at 0%, the whole price at 100%, and never rounded down', () => {
    expect([feeOf(12_345n, 0), feeOf(12_345n, 10_000), feeOf(1n, 1)]).toEqual([0n, 12_345n, 1n]);
  });

  it('is not found in a charge at list price', () => {
    expect([feePointsIn([line]), ownListNano([line]), feePointsIn([])]).toEqual([null, 0n, null]);
  });
});
