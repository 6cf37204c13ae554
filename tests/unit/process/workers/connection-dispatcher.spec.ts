import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  ConnectionDispatcher,
  type ConnectionTarget,
} from '#lib/programs/process/workers/connection-dispatcher';

/** A worker that notes what it is given. */
function target() {
  const given: { id: number; socket: Socket; refused: () => void }[] = [];
  const one: ConnectionTarget = { give: (id, socket, refused) => void given.push({ id, socket, refused }) };
  return { one, given };
}

describe('connections are given to workers in turn (contract: durability/workers)', () => {
  it('to the one with fewest on their way, in turn among equals', () => {
    const dispatcher = new ConnectionDispatcher();
    const [first, second] = [target(), target()];
    dispatcher.add(first.one);
    dispatcher.add(second.one);
    for (let count = 0; count < 6; count += 1) dispatcher.give(new Socket());
    expect([first.given.length, second.given.length]).toEqual([3, 3]);
    for (const { id } of second.given) dispatcher.accepted(second.one, id);
    for (let count = 0; count < 3; count += 1) dispatcher.give(new Socket());
    expect([first.given.length, second.given.length]).toEqual([3, 6]);
  });

  it('and what was on its way to one that died goes to another', () => {
    const dispatcher = new ConnectionDispatcher();
    const [first, second] = [target(), target()];
    dispatcher.add(first.one);
    const [taken, lost] = [new Socket(), new Socket()];
    dispatcher.give(taken);
    dispatcher.give(lost);
    dispatcher.accepted(first.one, first.given[0]?.id ?? 0);
    dispatcher.add(second.one);
    dispatcher.remove(first.one);
    expect(second.given.map(({ socket }) => socket)).toEqual([lost]);
    expect([taken.destroyed, lost.destroyed]).toEqual([true, false]);
  });

  it('and what a worker cannot be sent goes to another', () => {
    const dispatcher = new ConnectionDispatcher();
    const [first, second] = [target(), target()];
    dispatcher.add(first.one);
    const socket = new Socket();
    dispatcher.give(socket);
    dispatcher.add(second.one);
    first.given[0]?.refused();
    expect(second.given.map((one) => one.socket)).toEqual([socket]);
    dispatcher.remove(first.one);
    expect(second.given).toHaveLength(1);
  });

  it('not to one that is shut; while none serves they wait, and at the end they are closed', () => {
    const dispatcher = new ConnectionDispatcher();
    const [first, second] = [target(), target()];
    dispatcher.add(first.one);
    dispatcher.closing(first.one);
    const waits = new Socket();
    dispatcher.give(waits);
    expect(first.given).toEqual([]);
    dispatcher.add(second.one);
    expect(second.given.map(({ socket }) => socket)).toEqual([waits]);
    dispatcher.closing(second.one);
    const late = new Socket();
    dispatcher.give(late);
    dispatcher.end();
    expect(late.destroyed).toBe(true);
  });
});
