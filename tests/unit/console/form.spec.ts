import { describe, expect, it } from 'vitest';
import { readForm } from '#lib/console/form';
import { parseFields } from '#lib/control/field/field';
import { createKey } from '#lib/control/key/operations';
import { ControlRefused } from '#lib/control/refusal';

const place = { zone: 'Europe/Berlin', nowMs: Date.UTC(2026, 10, 22) };

/** What the form that makes an API key says beside which box; null: it is taken. */
function faultOf(
  sent: Readonly<Record<string, string>>,
): readonly [field: string | null, text: string] | null {
  try {
    parseFields(createKey.fields, readForm(createKey.fields, { name: 'test', ...sent }, place));
    return null;
  } catch (error) {
    if (error instanceof ControlRefused) return [error.field, error.text];
    throw error;
  }
}

describe('the form that makes an API key', () => {
  it.each([
    ['name', 'a\0b', /line breaks or control characters/],
    ['name', 'a\u202eb', /line breaks or control characters/],
    ['name', '\ud800', /line breaks or control characters/],
    ['name', '', /needed/],
    ['models', 'a\0b', /line breaks or control characters/],
    ['expiresAt', '275760-09-13', /before the year 2200/],
    ['expiresAt', '+275760-09-12', /before the year 2200/],
    ['expiresAt', '9999-12-31', /between 2000 and 2200/],
    ['expiresAt', '2200-01-01', /between 2000 and 2200/],
    ['expiresAt', '2026-11-01', /this day is over/],
    ['expiresAt', 'a\0b', /choose the last day/],
    ['dailyCap', '1e9', /decimal string/],
    ['rpm', '0', /whole number from 1/],
  ])('says beside the box "%s" what is wrong with %j', (field, value, text) => {
    const fault = faultOf({ [field]: value });
    expect(fault?.[0]?.split('.')[0]).toBe(field);
    expect(fault?.[1]).toMatch(text);
  });

  it('takes a day as its last second in the zone of the workspace', () => {
    expect(faultOf({ expiresAt: '2199-12-31' })).toBeNull();
    expect(readForm(createKey.fields, { expiresAt: '2027-01-31' }, place)).toEqual({
      expiresAt: '2027-01-31T22:59:59.000Z',
    });
  });
});
