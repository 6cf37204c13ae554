import { describe, expect, it } from 'vitest';
import { showShare, viewStatus } from '#lib/console/status/view';

const nowMs = Date.UTC(2026, 10, 22, 12);
const component = (id: string, state: 'operational' | 'degraded' | 'down' | 'maintenance' | 'no data') => ({
  id,
  name: id.toUpperCase(),
  state,
  availability: 0.99999,
  latencyMs: { p50: 320, p95: 1240 },
  days: [1, 0.98, 0.5, null],
});
const status = (
  gateway = component('gateway', 'operational'),
  ...providers: ReturnType<typeof component>[]
) => ({
  measuredAt: new Date(nowMs - 240_000).toISOString(),
  days: ['2026-11-19', '2026-11-20', '2026-11-21', '2026-11-22'],
  gateway,
  providers,
  incidents: [],
});

describe('the status page', () => {
  it('never rounds up to 100%', () => {
    expect([1, 0.99999, 0.9999, 0].map(showShare)).toEqual(['100.00%', '99.99%', '99.99%', '0.00%']);
  });

  it('distinguishes each day by color and by text', () => {
    const { gateway, measured } = viewStatus(status(), nowMs);
    expect(gateway.days.map(({ tone }) => tone)).toEqual(['good', 'warn', 'bad', 'neutral']);
    expect(gateway.days[1]?.text).toBe('20 Nov 2026: 98.00%');
    expect(gateway.summary).toBe('GATEWAY: 99.99% in 4 days, 2 days below 99%');
    expect(gateway.latency).toEqual({ p50: '320 ms', p95: '1.24 s' });
    expect(measured).toBe('4 min ago');
  });

  it('says first how the gateway is, then which providers have problems', () => {
    const texts = (['down', 'maintenance', 'degraded', 'no data', 'operational'] as const).map(
      (state) => viewStatus(status(component('gateway', state)), nowMs).head.text,
    );
    expect(texts).toEqual([
      'The gateway is down',
      'The gateway is in maintenance',
      'The gateway is degraded',
      'No data yet',
      'All systems operational',
    ]);
    const one = viewStatus(status(component('gateway', 'operational'), component('a', 'down')), nowMs);
    expect(one.head).toMatchObject({ text: 'A has problems', tone: 'warn' });
    const quiet = viewStatus(status(component('gateway', 'operational'), component('a', 'no data')), nowMs);
    expect(quiet.head.tone).toBe('good');
  });

  it('shows an incident with the names of what it affects, and times in UTC', () => {
    const incident = {
      id: 'x',
      title: 'Slow',
      impact: 'degraded' as const,
      affects: ['gateway', 'gone'],
      state: 'resolved',
      startedAt: '2026-11-22T10:00:00.000Z',
      resolvedAt: '2026-11-22T10:40:30.000Z',
      updates: [{ at: '2026-11-22T10:40:30.000Z', state: 'resolved', text: 'Over.' }],
    };
    const { open, past } = viewStatus({ ...status(), incidents: [incident] }, nowMs);
    expect(open).toEqual([]);
    expect(past[0]).toMatchObject({
      affects: 'GATEWAY, gone',
      time: '22 Nov, 10:00 – 22 Nov, 10:40 UTC',
      updates: [{ at: '22 Nov, 10:40 UTC', state: 'Resolved', text: 'Over.' }],
    });
  });
});
