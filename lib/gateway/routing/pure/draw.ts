/** The score of a name in a draw; the lowest goes first. */
export type Draw = (name: string, weight: number) => number;

/**
 * A draw without replacement in proportion to weight, stable per seed: each name gets an exponential waiting time of
 * rate `weight` out of a hash, and the shortest wait goes first.
 * @param seed the id of a call, and what is drawn if a call draws more than once. It is hashed once for all names.
 */
export function drawFor(seed: string): Draw {
  let seedLow = 0x811c9dc5;
  let seedHigh = 0x9e3779b9;
  for (let at = 0; at < seed.length; at += 1) {
    const code = seed.charCodeAt(at);
    seedLow = Math.imul(seedLow ^ code, 0x01000193);
    seedHigh = Math.imul(seedHigh ^ code, 0x85ebca6b);
  }
  // The end of the seed, so that "ab" and "c" are drawn unlike "a" and "bc".
  const low = Math.imul(seedLow, 0x01000193);
  const high = Math.imul(seedHigh, 0x85ebca6b);
  return (name, weight) => -Math.log(unitHash(low, high, name)) / weight;
}

/** A string hashed to (0, 1) from a state, uniformly enough for a draw: FNV-1a with a strong last mix, 53 bits. */
function unitHash(seedLow: number, seedHigh: number, name: string): number {
  let low = seedLow;
  let high = seedHigh;
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b);
  }
  const a = mix(low ^ Math.imul(high, 0x27d4eb2f));
  const b = mix(high ^ Math.imul(a, 0x165667b1));
  return ((a >>> 5) * 0x4000000 + (b >>> 6) + 0.5) / 0x20000000000000;
}

function mix(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
