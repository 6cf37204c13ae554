import { describe, expect, it } from 'vitest';
import { dayMs, keptFromId, weekAt, weekMs, weekNamed, weekStart } from '#lib/control/retention/weeks';
import { idFloor } from '#lib/platform/ids';

const monday = Date.UTC(2026, 10, 16);

describe('weeks of the call log', () => {
  it.each([monday, monday + 1, monday + weekMs - 1])('begin on Monday, 00:00 UTC: %d', (ms) => {
    expect(weekStart(ms)).toBe(monday);
  });

  it('hold the ids of their time and no others', () => {
    expect(weekAt(monday)).toEqual({
      name: 'call_w20261116',
      startMs: monday,
      fromId: idFloor(monday),
      toId: idFloor(monday + weekMs),
    });
    expect(weekAt(monday).toId).toBe(weekAt(monday + weekMs).fromId);
  });

  it('are known by their names, and other tables are none', () => {
    expect(weekNamed('call_w20261116')).toEqual(weekAt(monday));
    for (const name of ['call_default', 'call_w2026', 'attempt_w20261116', 'call_w20261116_pkey'])
      expect(weekNamed(name)).toBeNull();
  });

  it('never keep less by a number of days that reaches behind 1970', () => {
    expect(keptFromId(monday, 1)).toBe(idFloor(monday - dayMs));
    expect(keptFromId(monday, 2_147_483_647)).toBe(idFloor(0));
  });
});
