import { expect, test } from 'vitest';
import { wordOnFunds } from '#lib/console/billing/funds';

const funds = (balance: string, available: string, credit = '0') =>
  wordOnFunds({ balance, available, credit, held: '0' });

test('a balance below zero is shown with the amount needed to call again', () => {
  expect(funds('0', '0')).toBeNull();
  expect(funds('-0.25', '-0.25')).toMatchObject({ tone: 'bad' });
  expect(funds('-0.25', '-0.25')?.text).toContain('Any top-up of $5 or more covers it');
  expect(funds('-40.5', '-41')?.text).toContain('$40.50 below zero');
  expect(funds('-40.5', '-41')?.text).toContain('Add more than $41.00');
});

test('a balance below zero that credit covers says that calls continue', () => {
  expect(funds('-1', '9', '10')).toMatchObject({ tone: 'warn' });
  expect(funds('-1', '9', '10')?.text).toContain('your credit of $10.00 covers it');
});
