import { describe, expect, it } from 'vitest';
import { listCalls } from '#lib/control/operations/call/operations';
import { parseFields, refusePast } from '#lib/control/operations/field/field';
import { createKey } from '#lib/control/operations/key/operations';
import { operations } from '#lib/control/operations/operations';

const expiryIn = (expiresAt: string, zone?: string) =>
  parseFields(createKey.fields, { name: 'a', expiresAt }, zone).expiresAt?.toISOString();

describe('a date without a time (contract: control-plane/dates)', () => {
  it.each([
    ['UTC', '2026-12-01', '2026-12-01T23:59:59.000Z'],
    ['Asia/Kathmandu', '2026-12-01', '2026-12-01T18:14:59.000Z'],
    ['Pacific/Kiritimati', ' 2026-12-01 ', '2026-12-01T09:59:59.000Z'],
    ['America/New_York', '2026-12-01', '2026-12-02T04:59:59.000Z'],
    // The day has 25 hours, and 23.
    ['America/New_York', '2026-11-01', '2026-11-02T04:59:59.000Z'],
    ['Europe/Berlin', '2027-03-28', '2027-03-28T21:59:59.000Z'],
    // Its clocks are put forward at midnight.
    ['Africa/Cairo', '2027-04-29', '2027-04-29T21:59:59.000Z'],
    ['Not/AZone', '2026-12-01', '2026-12-01T23:59:59.000Z'],
  ])('is, for an expiry in %s, the end of %s', (zone, day, end) => {
    expect(expiryIn(day, zone)).toBe(end);
  });

  it('is, for an edge of a range, the beginning of the day', () => {
    const range = { from: '2026-11-01', to: '2026-12-01' };
    expect(parseFields(listCalls.fields, range, 'America/New_York')).toEqual({
      from: new Date('2026-11-01T04:00:00Z'),
      to: new Date('2026-12-01T05:00:00Z'),
    });
  });

  it('does not touch a time that says its offset', () => {
    expect(expiryIn('2026-12-01T10:00:00+05:45', 'America/New_York')).toBe('2026-12-01T04:15:00.000Z');
  });

  it('is read in every field that takes a moment', () => {
    const unread = operations.flatMap(({ name, fields }) =>
      Object.entries(fields).flatMap(([field, { kind, day }]) =>
        kind === 'moment' && day === undefined ? [`${name} ${field}`] : [],
      ),
    );
    expect(unread).toEqual([]);
  });
});

describe('an expiry that is over (contract: control-plane/dates)', () => {
  const nowMs = Date.parse('2026-12-01T12:00:00Z');
  const check = (expiresAt: string, zone = 'UTC') =>
    refusePast(createKey.fields, parseFields(createKey.fields, { name: 'a', expiresAt }, zone), nowMs);

  it.each([
    ['2020-01-01T00:00:00Z', 'UTC'],
    ['2026-12-01T12:00:00Z', 'UTC'],
    ['2026-11-30', 'UTC'],
    ['2026-12-01', 'Pacific/Kiritimati'],
  ])('%s in %s is refused, naming its field', (expiresAt, zone) => {
    expect(() => check(expiresAt, zone)).toThrow(
      expect.objectContaining({
        field: 'expiresAt',
        text: expect.stringMatching(/this time is in the past; choose a later/),
      }),
    );
  });

  it.each(['2026-12-01', '2026-12-01T12:00:00.001Z'])('%s is not over yet', (expiresAt) => {
    expect(() => check(expiresAt)).not.toThrow();
  });

  it('is a rule of every field that is an expiry', () => {
    const expiries = operations.flatMap(({ name, fields }) =>
      Object.entries(fields).flatMap(([field, { day }]) => (day === 'ends' ? [`${name} ${field}`] : [])),
    );
    expect(expiries.sort()).toEqual([
      'announcement.create until',
      'credit.promo expiresAt',
      'key.create expiresAt',
      'key.set expiresAt',
    ]);
  });
});
