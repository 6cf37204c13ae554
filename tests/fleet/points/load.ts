import type { Client, Told, Wish } from '#tests/fleet/client';
import { random } from '#tests/fleet/round';

/** No more of them wait for an answer: a machine that is behind is not asked for more. */
const mostWaiting = 100;

/** Calls at a steady pace, whether or not anybody answers. */
export function startLoad(client: Client, keys: readonly string[], wishes: readonly Wish[], aSecond: number) {
  const told: Promise<Told>[] = [];
  let waiting = 0;
  const timer = setInterval(() => {
    if (waiting >= mostWaiting) return;
    waiting += 1;
    const call = client.call(keys[told.length % keys.length] ?? '', wishes[random(wishes.length)]);
    told.push(call);
    void call.then(() => {
      waiting -= 1;
    });
  }, 1000 / aSecond);
  return {
    stop: () => {
      clearInterval(timer);
      return Promise.all(told);
    },
  };
}
