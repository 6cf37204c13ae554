import { describe, expect, it } from 'vitest';
import { loadUsageAddress, questionOf } from '#lib/console/usage/address';

const nowMs = Date.parse('2026-11-22T10:20:00Z');
const asked = (query: string, zone = 'Asia/Kathmandu') =>
  questionOf(loadUsageAddress(new URLSearchParams(query)), nowMs, zone);

describe('the address of usage', () => {
  it('shows the last 30 days by day and model when it says nothing', () => {
    expect(asked('')).toMatchObject({
      range: '30d',
      span: { from: '2026-10-23T18:15:00.000Z', to: '2026-11-22T10:30:00.000Z' },
      timed: { step: 'day', by: 'model' },
      compared: {
        rank: 'cost',
        beforeFrom: '2026-09-23T18:15:00.000Z',
        beforeTo: '2026-10-23T10:30:00.000Z',
      },
      fault: null,
    });
  });

  it.each([
    ['from=2026-11-01&to=2026-11-16', '2026-10-31T18:15:00.000Z', '2026-11-15T18:15:00.000Z'],
    ['from=2026-11-01T09:30&to=2026-11-01T12:00', '2026-11-01T03:45:00.000Z', '2026-11-01T06:15:00.000Z'],
    [
      'from=2026-11-01T00:00:00Z&to=2026-11-01T06:00:00%2B05:45',
      '2026-11-01T00:00:00.000Z',
      '2026-11-01T00:15:00.000Z',
    ],
    ['to=2026-11-16', '2026-10-16T18:15:00.000Z', '2026-11-15T18:15:00.000Z'],
  ])('takes %s by the clock of the workspace', (query, from, to) => {
    expect(asked(query)).toMatchObject({ range: 'custom', span: { from, to }, fault: null });
    expect(asked(query).compared).not.toHaveProperty('beforeFrom');
  });

  it.each([
    ['from=yesterday', 'The start'],
    ['to=2026-13-45', 'The end'],
    ['from=0001-01-01', 'The start'],
    ['from=2026-11-02&to=2026-11-01', 'The range ends before'],
  ])('says what is wrong with %s, and what to do', (query, text) => {
    expect(asked(query).fault).toContain(text);
  });

  it.each([
    ['range=24h&step=month', 'hour'],
    ['range=24h&step=quarter', 'quarter'],
    ['range=12m&step=quarter', 'month'],
    ['range=90d&step=week', 'week'],
    ['range=90d&step=nonsense', 'day'],
  ])('%s is shown by %s', (query, step) => {
    expect(asked(query).step).toBe(step);
  });

  it('groups by token class only for tokens, and reads outcomes of requests from the sums', () => {
    expect(asked('by=class').by).toBe('model');
    expect(asked('metric=tokens&by=class')).toMatchObject({ by: 'class', timed: { by: undefined } });
    expect(asked('metric=errors&by=outcome')).toMatchObject({ by: 'outcome', timed: { by: undefined } });
    expect(asked('metric=spend&by=outcome')).toMatchObject({ by: 'outcome', timed: { by: 'outcome' } });
  });
});
