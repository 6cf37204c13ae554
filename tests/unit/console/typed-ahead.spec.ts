import { expect, test } from 'vitest';
import { nothingTyped, typeAhead } from '#lib/console/typed-ahead';

const plain = { ctrlKey: false, metaKey: false, altKey: false };

function typed(...keys: readonly string[]) {
  return keys.reduce((before, key) => typeAhead(before, { ...plain, key }) ?? before, nothingTyped);
}

test('text pressed before the palette has loaded is kept with its corrections, and Enter after it', () => {
  expect(typed('u', 's', 'x', 'Backspace', 'a', '👍', 'Backspace', ' ')).toEqual({
    text: 'usa ',
    entered: false,
  });
  expect(typed('Shift', 'U', 'Enter', 'k')).toEqual({ text: 'U', entered: true });
  expect(typed('Enter')).toEqual(nothingTyped);
  expect(typed('Backspace')).toEqual(nothingTyped);
});

test.each([
  { key: 'ArrowDown' },
  { key: 'Tab' },
  { key: 'F5' },
  { key: 'r', ctrlKey: true },
  { key: 'c', metaKey: true },
  { key: 'l', altKey: true },
])('$key with or without a modifier keeps its effect in the browser', (key) => {
  expect(typeAhead(nothingTyped, { ...plain, ...key })).toBeNull();
});
