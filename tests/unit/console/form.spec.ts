import { describe, expect, it } from 'vitest';
import { changedOf } from '#lib/console/changed';
import { readForm } from '#lib/console/form';
import { parseFields, refusePast } from '#lib/control/operations/field/field';
import { createKey } from '#lib/control/operations/key/operations';
import { ControlRefused } from '#lib/control/operations/refusal';

const zone = 'Europe/Berlin';
const nowMs = Date.UTC(2026, 10, 22);

/** What the form that makes an API key says beside which box; null: it is taken. */
function faultOf(
  sent: Readonly<Record<string, string>>,
): readonly [field: string | null, text: string] | null {
  try {
    const given = readForm(createKey.fields, { name: 'test', ...sent });
    refusePast(createKey.fields, parseFields(createKey.fields, given, zone), nowMs);
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
    ['name', '', /required/],
    ['models', 'a\0b', /line breaks or control characters/],
    ['expiresAt', '275760-09-13', /must be a date such as/],
    ['expiresAt', '+275760-09-12', /must be a date such as/],
    ['expiresAt', '9999-12-31', /between the years 2000 and 2200/],
    ['expiresAt', '2200-01-01', /between the years 2000 and 2200/],
    ['expiresAt', '2026-11-01', /this time is in the past; choose a later/],
    ['expiresAt', 'a\0b', /must be a date such as/],
    ['dailyCap', '1e9', /amount of dollars/],
    ['rpm', '0', /whole number from 1/],
  ])('says beside the box "%s" what is wrong with %j', (field, value, text) => {
    const fault = faultOf({ [field]: value });
    expect(fault?.[0]?.split('.')[0]).toBe(field);
    expect(fault?.[1]).toMatch(text);
  });

  it('takes a day as its last second in the zone of the workspace', () => {
    expect(faultOf({ expiresAt: '2199-12-31' })).toBeNull();
    expect(faultOf({ expiresAt: '2026-11-22' })).toBeNull();
  });
});

it('sends only what was changed in a form, so that a tab opened earlier undoes nothing', () => {
  const initial = { rpm: '60', tpm: '', models: ['a/b'], strict: false };
  expect(changedOf({ ...initial, models: ['a/b'], rpm: '77' }, initial)).toEqual({ rpm: '77' });
  expect(changedOf({ ...initial, rpm: '', models: null, strict: true }, initial)).toEqual({
    rpm: '',
    models: null,
    strict: true,
  });
  // What was not shown at the beginning was empty.
  expect(changedOf({ name: '', reason: 'x' }, {})).toEqual({ reason: 'x' });
});
