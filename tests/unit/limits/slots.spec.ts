import { describe, expect, it } from 'vitest';
import type { StoredLimits } from '#lib/core/facts/snapshot';
import type { Claim } from '#lib/gateway/admission/claim';
import { snapshotOf } from '#tests/support/admission';
import { admitted, startMember } from '#tests/support/limits/fleet';
import { random } from '#tests/support/limits/matrix';
import { MemoryStore } from '#tests/support/limits/memory-store';
import { Simulation } from '#tests/support/limits/simulation';

function startFleet(processes: number, limits: Partial<StoredLimits>) {
  const simulation = new Simulation();
  const clock = { now: () => simulation.nowMs, mono: () => simulation.nowMs };
  const store = simulation.seen(new MemoryStore(() => simulation.nowMs), 2);
  const members = Array.from({ length: processes }, (_, rank) =>
    startMember(store, { processes, rank }, simulation, clock),
  );
  const snapshot = snapshotOf({ limits });
  let running = 0;
  const seen = { most: 0, admitted: 0, refused: 0, waitedMs: 0 };
  /** A call at a process, for so long. @returns once it was answered or refused. */
  const call = (at: number, forMs: number) => {
    const member = members[at % processes];
    const sentMs = simulation.nowMs;
    return new Promise<boolean>((resolve) => {
      void member?.claim(snapshot).then((answer) => {
        seen.waitedMs = Math.max(seen.waitedMs, simulation.nowMs - sentMs);
        if (!admitted(answer)) {
          seen.refused++;
          return resolve(false);
        }
        seen.admitted++;
        seen.most = Math.max(seen.most, ++running);
        simulation.later(forMs, () => {
          running--;
          member.end(answer);
          resolve(true);
        });
      });
    });
  };
  return { simulation, members, snapshot, seen, call };
}

describe('calls at once, over processes (contract: limits/concurrency)', () => {
  it.each([
    [3, 10],
    [3, 1],
    [3, 50],
    [1, 10],
  ])(
    '1,000 calls that come within a second at %i processes: never more than %i at once',
    async (processes, limit) => {
      const { simulation, seen, call } = startFleet(processes, { concurrency: limit });
      const next = random(limit);
      for (let n = 0; n < 1_000; n++) {
        simulation.later(next() * 1_000, () => void call(n, 50 + next() * 300));
      }
      await simulation.run(simulation.nowMs + 10_000);
      expect(seen.most).toBe(limit);
      expect(seen.admitted + seen.refused).toBe(1_000);
      // A second look is 25 ms later, at most.
      expect(seen.waitedMs).toBeLessThanOrEqual(40);
    },
  );

  it.each([1, 2, 10, 50])(
    '%i clients that call again as soon as they are answered are hardly ever refused',
    async (limit) => {
      const { simulation, seen, call } = startFleet(3, { concurrency: limit });
      const next = random(7);
      const untilMs = simulation.nowMs + 8_000;
      const again = (at: number): void => {
        if (simulation.nowMs < untilMs) {
          void call(at, 20 + next() * 200).then(() => simulation.later(1, () => again(at + 1)));
        }
      };
      for (let client = 0; client < limit; client++) again(client);
      await simulation.run(untilMs + 2_000);
      expect(seen.most).toBeLessThanOrEqual(limit);
      expect(seen.admitted).toBeGreaterThan(limit * 20);
      expect(seen.refused).toBeLessThanOrEqual(seen.admitted * 0.05);
    },
  );

  it('a call that waits for the answer to another one’s ask is counted, however often it is looked at meanwhile', async () => {
    const simulation = new Simulation();
    const clock = { now: () => simulation.nowMs, mono: () => simulation.nowMs };
    const store = simulation.seen(new MemoryStore(() => simulation.nowMs), 60);
    const member = startMember(store, { processes: 1, rank: 0 }, simulation, clock, 5);
    const workspaceId = snapshotOf({}).workspace.id;
    const of = (concurrency: number) => snapshotOf({ workspaceId, limits: { concurrency } });
    const [busy, single] = [of(5), of(1)];
    const answers: unknown[] = [];
    const claim = (snapshot: typeof busy) =>
      void member.claim(snapshot).then((answer) => answers.push(admitted(answer)));
    // Its ask is under way when the first call of the other key comes.
    claim(busy);
    await simulation.run(simulation.nowMs + 10);
    claim(single);
    await simulation.run(simulation.nowMs + 500);
    expect(answers).toEqual([true, true]);
    claim(single);
    await simulation.run(simulation.nowMs + 500);
    expect(answers).toEqual([true, true, false]);
  });

  it('slots of a process that died are free within 30 s, those of one that lives stay for ever', async () => {
    const { simulation, members, snapshot } = startFleet(3, { concurrency: 4 });
    const claims: Claim[] = [];
    const take = (at: number) =>
      members[at]?.claim(snapshot).then((answer) => void (admitted(answer) && claims.push(answer)));
    for (const at of [0, 0, 1, 1, 2]) void take(at);
    await simulation.run(simulation.nowMs + 1_000);
    expect(claims).toHaveLength(4);
    members[0]?.kill();
    await simulation.run(simulation.nowMs + 30_000);
    for (let n = 0; n < 4; n++) void take(2);
    await simulation.run(simulation.nowMs + 1_000);
    expect(claims).toHaveLength(6);
    await simulation.run(simulation.nowMs + 600_000);
    void take(2);
    await simulation.run(simulation.nowMs + 1_000);
    expect(claims).toHaveLength(6);
  });

  it('a place that is kept while a body arrives counts, goes back once, and is taken over by its claim', async () => {
    const { simulation, members, snapshot } = startFleet(2, { concurrency: 2, rpm: 3 });
    const [one, two] = members;
    const refusals: unknown[] = [];
    const place = (callId: string) => one?.place(callId, snapshot).then((refused) => refusals.push(refused));
    void place('a');
    void place('b');
    await simulation.run(simulation.nowMs + 100);
    expect(refusals).toEqual([null, null]);
    let answers: unknown[] = [];
    const claim = (member: typeof one, parts = {}) =>
      void member?.claim(snapshot, parts).then((answer) => answers.push(answer));
    claim(two);
    await simulation.run(simulation.nowMs + 100);
    expect(answers).toMatchObject([{ code: 'api_key_concurrency_exceeded' }]);
    one?.vacate('a');
    one?.vacate('a');
    claim(one, { callId: 'b', placed: true });
    await simulation.run(simulation.nowMs + 1_500);
    answers = [];
    claim(two);
    claim(two);
    await simulation.run(simulation.nowMs + 100);
    expect(answers.filter((answer) => admitted(answer as Claim))).toHaveLength(1);
    await simulation.run(simulation.nowMs + 2_000);
    expect(answers).toHaveLength(2);
  });

  it('a place counts as a request of now, however long its body takes (contract: body/large-first)', async () => {
    const { simulation, members, snapshot } = startFleet(2, { rpm: 1 });
    const [one, two] = members;
    const answers: unknown[] = [];
    void one?.place('a', snapshot).then((refused) => answers.push(refused));
    for (let minute = 0; minute < 3; minute++) {
      await simulation.run(simulation.nowMs + 61_000);
      void two?.claim(snapshot).then((answer) => answers.push(answer));
    }
    void one?.claim(snapshot, { callId: 'a', placed: true }).then((answer) => answers.push(answer));
    await simulation.run(simulation.nowMs + 59_000);
    void two?.claim(snapshot).then((answer) => answers.push(answer));
    await simulation.run(simulation.nowMs + 2_000);
    const full = { code: 'api_key_rpm_exceeded' };
    expect(answers).toMatchObject([null, full, full, { callId: 'a' }, full, full]);
  });
});
