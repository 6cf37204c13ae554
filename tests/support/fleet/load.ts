import type { Client, Told, Wish } from '#tests/support/fleet/client';

/** The most calls that may wait for an answer: a machine that is behind does not get more. */
const mostWaiting = 100;

/** A running load. */
export interface Load {
  /** Makes one more call. */
  add(client: Client | undefined, key: string, wish: Wish): void;
  /** @returns every call as its client saw it. */
  stop(): Promise<Told[]>;
}

/**
 * Makes calls at a steady pace, whether or not they are answered.
 * @param random draws the key and the wish of each.
 * @param keep what is kept of a call.
 * @param most calls that may wait for their end.
 */
export function startLoad(
  clients: readonly Client[],
  keys: readonly string[],
  wishes: readonly Wish[],
  aSecond: number,
  random: (below: number) => number,
  keep: (told: Told) => Told = (told) => told,
  most = mostWaiting,
): Load {
  const told: Promise<Told>[] = [];
  let waiting = 0;
  const add = (client: Client | undefined, key: string, wish: Wish) => {
    if (!client) return;
    waiting += 1;
    const call = client.call(key, wish).then((one) => {
      waiting -= 1;
      return keep(one);
    });
    told.push(call);
  };
  const timer = setInterval(() => {
    if (waiting >= most) return;
    add(
      clients[told.length % clients.length],
      keys[random(keys.length)] ?? '',
      wishes[random(wishes.length)] ?? {},
    );
  }, 1000 / aSecond);
  return {
    add,
    stop: () => {
      clearInterval(timer);
      return Promise.all(told);
    },
  };
}
