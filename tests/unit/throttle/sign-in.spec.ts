import { describe, expect, test } from 'vitest';
import { InProcessThrottle } from '#lib/platform/throttle/in-process';
import { SignInThrottle } from '#lib/platform/throttle/sign-in';

const minute = 60_000;

function throttled() {
  let nowMs = 0;
  const throttle = new SignInThrottle(new InProcessThrottle(() => nowMs));
  return {
    pass: (ms: number) => {
      nowMs += ms;
    },
    claim: (email: string, address: string) => throttle.claim(email, address),
    clear: (email: string, address: string) => throttle.clear(email, address),
    /** @returns how many of so many attempts may be made. */
    tries: async (count: number, who: (n: number) => [email: string, address: string]) => {
      let made = 0;
      for (let n = 0; n < count; n++) made += (await throttle.claim(...who(n))) ? 1 : 0;
      return made;
    },
  };
}

describe('failed sign-ins (contract: control-plane/sign-in)', () => {
  test('ten from one address for one email close that pair for a quarter of an hour, no other', async () => {
    const { claim, tries, pass } = throttled();
    expect(await tries(11, () => ['a@x.example', '10.0.0.1'])).toBe(10);
    expect(await claim('a@x.example', '10.0.0.2')).toBe(true);
    expect(await claim('b@x.example', '10.0.0.1')).toBe(true);
    pass(14 * minute);
    expect(await claim('a@x.example', '10.0.0.1')).toBe(false);
    pass(minute);
    expect(await claim('a@x.example', '10.0.0.1')).toBe(true);
  });

  test('whom others lock out by guessing still gets in from where they signed in before', async () => {
    const { claim, clear, tries } = throttled();
    await claim('a@x.example', '10.0.0.1');
    await clear('a@x.example', '10.0.0.1');
    await tries(50, (n) => ['a@x.example', `10.1.0.${n}`]);
    expect(await claim('a@x.example', '10.2.0.1')).toBe(false);
    expect(await tries(11, () => ['a@x.example', '10.0.0.1'])).toBe(10);
  });

  test('one address is closed after a hundred, whatever it guesses', async () => {
    expect(await throttled().tries(110, (n) => [`${n}@x.example`, '10.0.0.1'])).toBe(100);
  });

  test('one email is closed after fifty, from wherever they come', async () => {
    expect(await throttled().tries(60, (n) => ['a@x.example', `10.0.0.${n}`])).toBe(50);
  });

  test('a success takes itself and the pair’s failures back', async () => {
    const { clear, tries } = throttled();
    await tries(10, () => ['a@x.example', '10.0.0.1']);
    await clear('a@x.example', '10.0.0.1');
    expect(await tries(11, () => ['a@x.example', '10.0.0.1'])).toBe(10);
  });

  test('what is remembered is bounded', async () => {
    const { tries } = throttled();
    await tries(30_000, (n) => [`${n}@x.example`, `10.${n}`]);
    // The first pair's window was dropped with its failures, so it starts again.
    expect(await tries(10, () => ['0@x.example', '10.0'])).toBe(10);
  });
});

describe('a claim', () => {
  test('books under all limits or under none, and says how long to wait', async () => {
    let nowMs = 0;
    const throttle = new InProcessThrottle(() => nowMs);
    const wide = { id: 'wide', most: 3, windowSeconds: 60 };
    const tight = { id: 'tight', most: 1, windowSeconds: 10 };
    expect(await throttle.claim([wide, tight])).toBe(0);
    nowMs = 4_000;
    expect(await throttle.claim([wide, tight])).toBe(6);
    expect(await throttle.claim([wide])).toBe(0);
    expect(await throttle.claim([wide])).toBe(0);
    expect(await throttle.claim([wide])).toBe(56);
  });
});
