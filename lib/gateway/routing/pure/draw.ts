/**
 * A draw without replacement in proportion to weight, stable per call id: each name gets an
 * exponential waiting time of rate `weight` out of a hash, and the shortest wait goes first.
 */
export function drawScore(callId: string, name: string, weight: number): number {
  return -Math.log(unitHash(callId, name)) / weight;
}

/** Two strings hashed to (0, 1), uniformly enough for a draw: FNV-1a with a strong last mix, 53 bits. */
function unitHash(one: string, other: string): number {
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  const take = (code: number) => {
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b);
  };
  for (let at = 0; at < one.length; at += 1) take(one.charCodeAt(at));
  take(0);
  for (let at = 0; at < other.length; at += 1) take(other.charCodeAt(at));
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
