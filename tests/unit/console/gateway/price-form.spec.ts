import { expect, it } from 'vitest';
import { missingRates, priceLines, priceTyped } from '#lib/console/gateway/price-form';
import { filePriceShape } from '#lib/core/schemas/price';

const price = {
  input: '2',
  output: '8',
  image: { '1024x1024/high': '0.17', default: '0.04' },
  tiers: [{ aboveInputTokens: 200_000, input: '4', output: '12' }],
  serviceTiers: { flex: { input: '1', tiers: [{ aboveInputTokens: 200_000, input: '2' }] } },
};

it('a price is a form of amounts, each with its tier and unit, whatever tiers it has', () => {
  expect(filePriceShape.safeParse(price).success).toBe(true);
  const lines = priceLines(price);
  expect(lines.map(({ group, label, unit, usd }) => `${group}|${label}|${usd} ${unit}`)).toEqual([
    '|Input|2 per million tokens',
    '|Output|8 per million tokens',
    '|Images, 1024x1024/high|0.17 each',
    '|Images, default|0.04 each',
    'Calls above 200,000 input tokens|Input|4 per million tokens',
    'Calls above 200,000 input tokens|Output|12 per million tokens',
    'Service tier flex|Input|1 per million tokens',
    'Service tier flex, above 200,000 input tokens|Input|2 per million tokens',
  ]);
  expect(new Set(lines.map(({ name }) => name)).size).toBe(lines.length);
  expect(priceTyped(price, {})).toEqual(price);
});

it('a price takes amounts as people type them, and loses a rate whose box is empty', () => {
  const [input, output, high, other] = priceLines(price).map(({ name }) => name);
  const typed = { [input ?? '']: '$1,000.50', [output ?? '']: ' ', [high ?? '']: '' };
  const { tiers, serviceTiers } = price;
  expect(priceTyped(price, typed)).toEqual({
    input: '1000.50',
    image: { default: '0.04' },
    tiers,
    serviceTiers,
  });
  expect(priceTyped(price, { [high ?? '']: '', [other ?? '']: '' })).not.toHaveProperty('image');
  expect(filePriceShape.safeParse(priceTyped(price, { [input ?? '']: 'cheap' })).success).toBe(false);
});

it('a price may get the rates that it does not have', () => {
  const missing = missingRates(price).map(({ value }) => value);
  expect(missing).toContain('cachedInput');
  expect(missing).not.toContain('input');
  for (const name of missing) expect(filePriceShape.safeParse({ [name]: '1' }).success, name).toBe(true);
});
