import { describe, expect, it } from 'vitest';
import { inLanes } from '#lib/platform/in-lanes';

/** Work of so many pieces: how often it was asked for, and the most pieces at a time. */
function workOf(pieces: number, fails = -1) {
  const seen = { asked: 0, done: 0, most: 0 };
  let [left, running] = [pieces, 0];
  const one = async (found: () => void) => {
    seen.asked += 1;
    if (left === 0) return false;
    const piece = left--;
    running += 1;
    seen.most = Math.max(seen.most, running);
    found();
    await new Promise(setImmediate);
    running -= 1;
    if (piece === fails) throw new Error('this piece fails');
    seen.done += 1;
    return true;
  };
  return { seen, one };
}

describe('work in lanes', () => {
  it('is asked for once if nothing waits', async () => {
    const { seen, one } = workOf(0);
    await inLanes(4, one);
    expect(seen).toEqual({ asked: 1, done: 0, most: 0 });
  });

  it('is done completely, in as many lanes as there may be', async () => {
    const { seen, one } = workOf(10);
    await inLanes(4, one);
    expect(seen).toEqual({ asked: 14, done: 10, most: 4 });
  });

  it('goes on in the other lanes when one fails, and then says why', async () => {
    const { seen, one } = workOf(10, 10);
    await expect(inLanes(4, one)).rejects.toThrow('this piece fails');
    expect(seen.done).toBe(9);
  });
});
