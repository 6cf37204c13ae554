import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import { snapshotOf } from '#tests/support/admission';
import { FaultyStore } from '#tests/support/limits/faulty-store';
import { admitted, type Member, mostInAnyMinute, startMember } from '#tests/support/limits/fleet';
import { MemoryStore } from '#tests/support/limits/memory-store';
import { Simulation } from '#tests/support/limits/simulation';

/** Three processes on one store that can fail; calls come at each in turn. */
function startFleet(processes = 3) {
  const simulation = new Simulation();
  const clock = { now: () => simulation.nowMs, mono: () => simulation.nowMs };
  const memory = new MemoryStore(() => simulation.nowMs);
  const store = new FaultyStore(simulation.seen(memory, 1));
  const members = Array.from({ length: processes }, (_, rank) =>
    startMember(store, { processes, rank }, simulation, clock),
  );
  const passed: { atMs: number }[] = [];
  const waits: number[] = [];
  let turn = 0;
  /** One call now, which ends at once. */
  const call = (snapshot: KeySnapshot, member: Member | undefined = members[turn++ % processes]) => {
    const sentMs = simulation.nowMs;
    void member?.claim(snapshot).then((answer) => {
      waits.push(simulation.nowMs - sentMs);
      if (!admitted(answer)) return;
      passed.push({ atMs: simulation.nowMs });
      member.end(answer);
    });
  };
  /** Calls at an even pace for a while. */
  const pour = (snapshot: KeySnapshot, perSecond: number, seconds: number) => {
    for (let n = 0; n < perSecond * seconds; n++)
      simulation.later((n * 1000) / perSecond, () => call(snapshot));
    return simulation.run(simulation.nowMs + seconds * 1000);
  };
  return { simulation, memory, store, members, passed, waits, call, pour };
}

describe('while the store of limits is away (contract: limits/store-away)', () => {
  it.each(['hung', 'mute', 'refused'] as const)(
    'no call waits longer than 50 ms, and after the first failure none waits at all: %s',
    async (state) => {
      const { store, waits, pour } = startFleet();
      const snapshot = snapshotOf({ limits: { rpm: 600 } });
      await pour(snapshot, 20, 5);
      waits.length = 0;
      store.state = state;
      await pour(snapshot, 20, 20);
      expect(Math.max(...waits)).toBeLessThanOrEqual(50);
      // Each of three processes, which may have had permits for a moment.
      expect(waits.filter((ms) => ms > 1).length).toBeLessThanOrEqual(state === 'refused' ? 0 : 6);
      expect(waits).toHaveLength(400);
    },
  );

  it.each([
    [600, 3, 600],
    [10, 3, 10],
    [2, 3, 2],
    [1, 3, 1],
  ])('a limit of %i on %i processes lets %i pass in any 60 s', async (limit, processes, most) => {
    const { store, passed, pour } = startFleet(processes);
    store.state = 'hung';
    await pour(snapshotOf({ limits: { rpm: limit } }), 40, 150);
    expect(mostInAnyMinute(passed)).toBe(most);
  });

  it('what each process admitted before counts in its share', async () => {
    const { store, passed, pour } = startFleet();
    const snapshot = snapshotOf({ workspaceLimits: { rpm: 60 } });
    await pour(snapshot, 1, 60);
    expect(passed).toHaveLength(60);
    store.state = 'refused';
    await pour(snapshot, 20, 70);
    expect(mostInAnyMinute(passed)).toBeLessThanOrEqual(60);
  });

  it('comes back without a minute above the limit: what passed meanwhile is reported, and counts', async () => {
    const { store, passed, pour, members } = startFleet();
    const snapshot = snapshotOf({ limits: { rpm: 90 } });
    store.state = 'hung';
    await pour(snapshot, 10, 30);
    store.state = 'on';
    await pour(snapshot, 10, 180);
    expect(mostInAnyMinute(passed)).toBeLessThanOrEqual(90);
    expect(passed.length).toBeGreaterThanOrEqual(90 * 3);
    expect(members.map(({ lost }) => lost.length)).toEqual([1, 1, 1]);
  });

  it('answers that were lost cost no permits: what they admitted is taken back', async () => {
    const { store, passed, pour, simulation } = startFleet(1);
    const snapshot = snapshotOf({ limits: { rpm: 30 } });
    await pour(snapshot, 1, 2);
    store.state = 'mute';
    await pour(snapshot, 1, 4);
    store.state = 'on';
    await simulation.run(simulation.nowMs + 10_000);
    await pour(snapshot, 20, 20);
    expect(passed).toHaveLength(30);
  });

  it('all processes report again to a store that forgot everything, and keep to their shares until then', async () => {
    const { memory, passed, pour } = startFleet();
    const snapshot = snapshotOf({ limits: { rpm: 300 } });
    await pour(snapshot, 15, 100);
    for (let flush = 0; flush < 3; flush++) {
      memory.flush();
      await pour(snapshot, 15, 40);
    }
    expect(mostInAnyMinute(passed)).toBeLessThanOrEqual(300 * 1.02);
    expect(passed.length).toBeGreaterThanOrEqual(0.95 * (300 + (300 * 160) / 60));
  });

  it('a store that forgot everything learns again what each of 1,000 keys of a workspace has used', async () => {
    const { memory, passed, call, simulation } = startFleet();
    const workspaceId = randomUUID();
    const keys = Array.from({ length: 1_000 }, () => snapshotOf({ workspaceId, limits: { rpm: 3 } }));
    const callWithEach = async (seconds: number) => {
      const before = passed.length;
      for (const key of keys) call(key);
      await simulation.run(simulation.nowMs + seconds * 1000);
      return passed.length - before;
    };
    for (let times = 0; times < 3; times++) expect(await callWithEach(2)).toBe(keys.length);
    memory.flush();
    await simulation.run(simulation.nowMs + 15_000);
    expect(await callWithEach(2)).toBe(0);
  });
});

describe('a workspace that no call uses any more (contract: limits/permits)', () => {
  it('is asked about every 5 s for a minute, and then no more', async () => {
    const { members, pour, simulation } = startFleet(1);
    await pour(snapshotOf({ limits: { rpm: 600 } }), 20, 5);
    const asks = async (seconds: number) => {
      const before = members[0]?.asks ?? 0;
      await simulation.run(simulation.nowMs + seconds * 1000);
      return (members[0]?.asks ?? 0) - before;
    };
    await asks(5);
    const minute = await asks(50);
    expect(minute).toBeGreaterThanOrEqual(9);
    expect(minute).toBeLessThanOrEqual(11);
    await asks(15);
    expect(await asks(3_600)).toBe(0);
  });

  it.each(['hung', 'mute', 'refused'] as const)(
    'is forgotten although its store fails now and then: %s',
    async (state) => {
      const { members, store, pour, simulation } = startFleet(1);
      await pour(snapshotOf({ limits: { rpm: 600 } }), 20, 5);
      for (let times = 0; times < 4; times++) {
        await simulation.run(simulation.nowMs + 15_000);
        store.state = state;
        await simulation.run(simulation.nowMs + 10_000);
        store.state = 'on';
      }
      const before = members[0]?.asks ?? 0;
      await simulation.run(simulation.nowMs + 3_600_000);
      expect(members[0]?.asks).toBe(before);
    },
  );
});
