import { describe, expect, test } from 'vitest';
import { createBodyBudget } from '#lib/gateway/flow/body-budget';
import { BodyMemory } from '#lib/gateway/flow/upload/body-memory';

const mebibyte = 1024 * 1024;

describe('The memory of a large body', () => {
  test('grows one body in a round of the event loop, however many must grow at once', async () => {
    const budget = createBodyBudget(1024 * mebibyte);
    const bodies = Array.from({ length: 6 }, (_, at) => new BodyMemory(budget, `key-${at}`, 8 * mebibyte));
    let grown = 0;
    for (const body of bodies) {
      await body.add(new Uint8Array(mebibyte));
      void body.add(new Uint8Array(mebibyte))?.then(() => {
        grown++;
      });
    }
    const grownByRound: number[] = [];
    for (let round = 0; round < 12; round++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      grownByRound.push(grown);
    }
    const mostInOneRound = Math.max(...grownByRound.map((now, at) => now - (grownByRound[at - 1] ?? 0)));
    expect({ mostInOneRound, grown }).toEqual({ mostInOneRound: 1, grown: 6 });
  });

  test('contains the bytes as they came, across every growth', async () => {
    const sent = Uint8Array.from({ length: 5 * mebibyte }, (_, at) => (at * 7 + (at >> 16)) & 255);
    const memory = new BodyMemory(createBodyBudget(64 * mebibyte), 'key', sent.length);
    for (let at = 0; at < sent.length; at += 100_000) await memory.add(sent.subarray(at, at + 100_000));
    expect(Buffer.compare(memory.whole(), sent)).toBe(0);
  });

  test('allocates nothing for a body whose call was released while it waited to grow', async () => {
    const memory = new BodyMemory(createBodyBudget(64 * mebibyte), 'key', 8 * mebibyte);
    await memory.add(new Uint8Array(mebibyte));
    const growing = memory.add(new Uint8Array(mebibyte));
    memory.release();
    await growing;
    expect(memory.whole().length).toBe(0);
  });
});
