import type { Wish } from '#tests/support/fleet/client';

/** What is under way when the gateway is killed: a call that takes some 400 ms. */
export const shapes: Readonly<Record<string, (mark: string) => Wish>> = {
  json: (mark) => ({ directive: `pace/10/40?mark=${mark}` }),
  stream: (mark) => ({ directive: `pace/10/40?mark=${mark}`, stream: true }),
  fallback: (mark) => ({ directive: `pace/10/40?mark=${mark}`, stream: true, model: 'test/falls-back' }),
};

/** A film of four seconds, which its provider makes in 400 ms. */
export const film = (mark: string) => ({
  model: 'sandbox/film',
  prompt: `A film [[film?job_ms=400&mark=${mark}]]`,
  seconds: '4',
  size: '720x1280',
});

/** Its price, nano-dollars. */
export const filmNano = 400_000_000n;
