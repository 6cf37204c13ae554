import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Taker, Turns } from '#lib/process/workers/turns';

/** A worker that notes what it is given. */
function taker() {
  const given: { id: number; socket: Socket; refused: () => void }[] = [];
  const one: Taker = { give: (id, socket, refused) => void given.push({ id, socket, refused }) };
  return { one, given };
}

describe('connections are given to workers in turn (contract: durability/workers)', () => {
  it('to the one with fewest on their way, in turn among equals', () => {
    const turns = new Turns();
    const [first, second] = [taker(), taker()];
    turns.enter(first.one);
    turns.enter(second.one);
    for (let count = 0; count < 6; count += 1) turns.give(new Socket());
    expect([first.given.length, second.given.length]).toEqual([3, 3]);
    for (const { id } of second.given) turns.took(second.one, id);
    for (let count = 0; count < 3; count += 1) turns.give(new Socket());
    expect([first.given.length, second.given.length]).toEqual([3, 6]);
  });

  it('and what was on its way to one that died goes to another', () => {
    const turns = new Turns();
    const [first, second] = [taker(), taker()];
    turns.enter(first.one);
    const [taken, lost] = [new Socket(), new Socket()];
    turns.give(taken);
    turns.give(lost);
    turns.took(first.one, first.given[0]?.id ?? 0);
    turns.enter(second.one);
    turns.leave(first.one);
    expect(second.given.map(({ socket }) => socket)).toEqual([lost]);
    expect([taken.destroyed, lost.destroyed]).toEqual([true, false]);
  });

  it('and what a worker cannot be sent goes to another', () => {
    const turns = new Turns();
    const [first, second] = [taker(), taker()];
    turns.enter(first.one);
    const socket = new Socket();
    turns.give(socket);
    turns.enter(second.one);
    first.given[0]?.refused();
    expect(second.given.map((one) => one.socket)).toEqual([socket]);
    turns.leave(first.one);
    expect(second.given).toHaveLength(1);
  });

  it('not to one that is shut; while none serves they wait, and at the end they are closed', () => {
    const turns = new Turns();
    const [first, second] = [taker(), taker()];
    turns.enter(first.one);
    turns.shut(first.one);
    const waits = new Socket();
    turns.give(waits);
    expect(first.given).toEqual([]);
    turns.enter(second.one);
    expect(second.given.map(({ socket }) => socket)).toEqual([waits]);
    turns.shut(second.one);
    const late = new Socket();
    turns.give(late);
    turns.end();
    expect(late.destroyed).toBe(true);
  });
});
