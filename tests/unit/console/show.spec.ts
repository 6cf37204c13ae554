import { describe, expect, test } from 'vitest';
import { showQuantity, showUnitPrice, usedClasses } from '#lib/console/show/cost-line';
import { showForeign } from '#lib/console/show/foreign';
import { showAgo, showDate, showMoment, showSpan, showZone, showZoneOver } from '#lib/console/show/time';
import { dayEnd } from '#lib/core/charts/wall-time';
import { showCount, showMoney, showMoneyDown } from '#lib/core/show-money';

describe('money to read', () => {
  test.each([
    ['0', '$0.00'],
    ['0.0000042', '$0.0000042'],
    ['0.000000001', '$0.000000001'],
    ['0.00935200025', '$0.009352'],
    ['0.5', '$0.50'],
    ['0.123456789', '$0.123457'],
    ['0.9999999', '$1.00'],
    ['12.487654321', '$12.49'],
    ['1234567.995', '$1,234,568.00'],
    ['-0.25', '−$0.25'],
    ['-3', '−$3.00'],
  ])('%s dollars read %s', (exact, read) => {
    expect(showMoney(exact)).toBe(read);
  });

  test.each([
    ['34.995287', '$34.99'],
    ['9.995287', '$9.99'],
    ['35', '$35.00'],
    ['0.9999999', '$0.999999'],
    ['-0.004713', '−$0.004713'],
    ['-6.111', '−$6.12'],
  ])('a balance of %s dollars reads %s, which can be spent', (exact, read) => {
    expect(showMoneyDown(exact)).toBe(read);
  });

  test('no amount above zero looks like nothing', () => {
    for (let places = 1; places <= 15; places++) {
      expect(showMoney(`0.${'1'.padStart(places, '0')}`)).not.toBe('$0.00');
    }
  });
});

test('prices by the piece are shown by the piece, others by the million', () => {
  expect(showUnitPrice('input', '2.5')).toBe('$2.50 per 1M');
  expect(showUnitPrice('image', '40000')).toBe('$0.04 each');
  expect(showUnitPrice('characters', '15')).toBe('$15.00 per 1M characters');
  // Of $0.04 an hour, rounded down to nano-dollars for a million milliseconds.
  expect(showUnitPrice('audioMs', '0.011111111')).toBe('$0.04 an hour');
  expect(showUnitPrice('cacheStorage', '4.5')).toBe('$4.50 per 1M an hour');
  expect(showQuantity('cacheStorage', 1_502)).toBe('1,502 tokens × hours');
  expect(showUnitPrice('request', '1000000')).toBe('$1.00 each');
  expect(showUnitPrice('webSearch:vendor/judge', '10')).toBe('$0.00001 each');
});

test('usage lists only the classes that were used', () => {
  expect(
    usedClasses({ characters: 1_234, audioMs: 12_500 }).map(({ name, count }) => `${name}: ${count}`),
  ).toEqual(['Characters: 1,234 characters', 'Audio: 12.5 s of audio']);
  expect(showQuantity('audioMs', 3_600_000)).toBe('3,600 s of audio');
  expect(showQuantity('characters', 1)).toBe('1 character');
  expect(usedClasses({ input: 1204, cachedInput: 0, output: 3 })).toEqual([
    { className: 'input', name: 'Input', count: '1,204' },
    { className: 'output', name: 'Output', count: '3' },
  ]);
});

test('a class that is counted in another one says so', () => {
  expect(usedClasses({ output: 5, reasoning: 3, audioInput: 1 }).map(({ name }) => name)).toEqual([
    'Output',
    'Reasoning, part of output',
    'Audio input, part of input',
  ]);
});

test('a stranger’s name cannot turn the direction of the text or hide in it', () => {
  expect(showForeign('\u202Egpj.exe\u0007 a\u200Bb')).toBe('\uFFFDgpj.exe\uFFFD a\uFFFDb');
  expect(showForeign('vendor/modèle-模型 😀')).toBe('vendor/modèle-模型 😀');
});

describe('moments to read', () => {
  const atMs = Date.UTC(2026, 10, 20, 20, 45, 7);

  test('they are told in the workspace’s zone, which is printed with its offset', () => {
    expect(showMoment(atMs, 'UTC')).toBe('20 Nov, 20:45:07');
    expect(showMoment(atMs, 'Asia/Kathmandu')).toBe('21 Nov, 02:30:07');
    expect(showZone('Asia/Kathmandu', atMs)).toBe('Asia/Kathmandu, UTC+05:45');
    expect(showZone('Europe/Berlin', Date.UTC(2026, 6, 1))).toBe('Europe/Berlin, UTC+02:00');
    expect(showZone('Europe/London', atMs)).toBe('Europe/London, UTC+00:00');
  });

  test('a range over a change of the clocks has two offsets', () => {
    const november = [Date.UTC(2026, 10, 1, 4), Date.UTC(2026, 11, 1, 5)] as const;
    expect(showZoneOver('America/New_York', ...november)).toBe('America/New_York, UTC-04:00 and UTC-05:00');
    expect(showZoneOver('Asia/Kathmandu', ...november)).toBe('Asia/Kathmandu, UTC+05:45');
    expect(showZoneOver('UTC', ...november)).toBe('UTC');
  });

  test('a zone that this machine does not know is told in UTC, and says so', () => {
    expect(showMoment(atMs, 'Mars/Olympus')).toBe('20 Nov, 20:45:07');
    expect(showZone('Mars/Olympus', atMs)).toBe('UTC');
  });

  test('distances and spans', () => {
    expect(showAgo(atMs, atMs + 20_000)).toBe('just now');
    expect(showAgo(atMs, atMs + 130_000)).toBe('2 min ago');
    expect(showAgo(atMs, atMs - 3 * 86_400_000)).toBe('in 3 d');
    expect(showSpan(0.42)).toBe('0.4 ms');
    expect(showSpan(312.4)).toBe('312 ms');
    expect(showSpan(1239)).toBe('1.24 s');
    expect(showSpan(125_000)).toBe('2 min 05 s');
    expect(showCount(1_234_567)).toBe('1,234,567');
  });
});

describe('a day that a key expires on', () => {
  test.each([
    ['2027-01-31', 'UTC', '2027-01-31T23:59:59.000Z'],
    ['2027-01-31', 'Asia/Kathmandu', '2027-01-31T18:14:59.000Z'],
    ['2027-03-14', 'America/New_York', '2027-03-15T03:59:59.000Z'],
    ['2027-11-07', 'America/New_York', '2027-11-08T04:59:59.000Z'],
    ['2026-12-31', 'Pacific/Auckland', '2026-12-31T10:59:59.000Z'],
  ])('%s ends in %s at %s', (day, zone, end) => {
    expect(dayEnd(day, zone)?.toISOString()).toBe(end);
  });

  test('what is no day is no moment', () => {
    for (const text of ['', '2027-13-01', '2027-01-31T00:00:00Z', 'soon'])
      expect(dayEnd(text, 'UTC')).toBeNull();
  });
});

test.each([
  ['2026-07-02', '2 Jul 2026'],
  ['2026-07', 'Jul 2026'],
])('a day of the catalogue, %s, reads %s', (day, read) => {
  expect(showDate(day)).toBe(read);
});
