import { expect, it } from 'vitest';
import { priceText } from '#lib/control/catalogue/difference';
import { readFilePrice } from '#lib/core/schemas/price';

it('a price reads in words, per million tokens and by the piece', () => {
  const text = priceText(
    readFilePrice({ input: '2', output: '8', cachedInput: '0.5', webSearch: '0.01', image: '0.04' }),
  );
  expect(text).toBe('$2 in, $8 out, $0.5 cached input, $0.01 a web search, $0.04 an image');
});
