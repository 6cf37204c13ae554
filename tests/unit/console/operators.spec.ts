import { describe, expect, it } from 'vitest';
import { readDismissed, withDismissed } from '#lib/console/show/dismissed';
import { supportRows } from '#lib/console/team/support-rows';

const id = (digit: string) => `${digit.repeat(8)}-0000-7000-8000-000000000000`;

describe('announcements that were put away', () => {
  it('are kept in a cookie of the browser, the newest first, at most 20', () => {
    const second = withDismissed(withDismissed(undefined, id('1')), id('2'));
    expect([...readDismissed(second)]).toEqual([id('2'), id('1')]);
    expect(withDismissed(second, { id: '3' })).toBe(second);
    let value = '';
    for (let n = 0; n < 30; n++)
      value = withDismissed(value, `${String(n).padStart(8, '0')}${id('1').slice(8)}`);
    expect(readDismissed(value).size).toBe(20);
  });

  it('are read of whatever a cookie holds', () => {
    for (const value of [undefined, '', '.', '<script>', `${id('1')}.x'"`]) {
      for (const one of readDismissed(value)) expect(one).toBe(id('1'));
    }
  });
});

describe('the support view of a workspace', () => {
  it('shows the last ten failures of both kinds, the newest first, and of a key what is shown of it', () => {
    const nowMs = Date.UTC(2026, 10, 22);
    const call = (n: number, status: number) => ({
      id: id(String(n)),
      at: new Date(nowMs - n * 60_000).toISOString(),
      status,
      errorCode: null,
      requestedModel: null,
      provider: null,
    });
    const { calls, keys } = supportRows(
      {
        slug: 'acme',
        promos: [],
        members: [],
        refusals: [],
        trail: [],
        keys: [
          {
            id: 'k',
            name: 'web',
            status: { text: 'Cap reached', note: 'resets 26 Nov, 00:00' },
            masked: 'mg_aaaa…bbbb',
          },
        ],
        calls: [call(1, 400), call(3, 429), call(2, 502)],
      },
      nowMs,
    );
    expect(calls.map(({ cells }) => cells[1])).toEqual(['429', '502', '400']);
    expect(calls[0]?.cells[0]).toEqual({ text: '33333333-0000…', href: `/acme/logs/${id('3')}` });
    expect(keys[0]?.cells).toEqual(['web', 'mg_aaaa…bbbb', 'Cap reached (resets 26 Nov, 00:00)']);
  });
});
