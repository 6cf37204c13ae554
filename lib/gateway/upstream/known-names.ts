import { type LookupAddress, lookup as resolve } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** An answer this old is asked for again, behind the connection that uses it, ms. */
const FRESH_MS = 30_000;
/** An answer this old is no longer used without asking, ms. */
const USABLE_MS = 300_000;
/** An answer this old is no longer used if asking fails, ms. */
const OLDEST_MS = 3_600_000;

type Answer = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void;
type Resolve = (name: string, options: { readonly all: true }, done: Answer) => void;

interface Known {
  readonly found: LookupAddress[];
  readonly atMs: number;
}

/**
 * Resolves the names of configured providers, and remembers the answers (contract: routing/names): connections opened
 * at the same time share one question to DNS, and a DNS server that is slow or away delays none to a name that was
 * resolved before.
 * @param nowMs of a steady clock.
 */
export function createLookup(
  ask: Resolve = resolve,
  nowMs: () => number = performance.now.bind(performance),
): LookupFunction {
  const known = new Map<string, Known>();
  const asked = new Map<string, Answer[]>();
  const find = (name: string, done: Answer) => {
    const waiting = asked.get(name);
    if (waiting) return void waiting.push(done);
    asked.set(name, [done]);
    ask(name, { all: true }, (error, found) => {
      const all = asked.get(name) ?? [];
      asked.delete(name);
      if (error === null) known.set(name, { found, atMs: nowMs() });
      const last = ageOf(name) < OLDEST_MS ? known.get(name) : undefined;
      for (const one of all) last ? one(null, last.found) : one(error, []);
    });
  };
  const ageOf = (name: string) => nowMs() - (known.get(name)?.atMs ?? Number.NEGATIVE_INFINITY);
  return (name, options, callback) => {
    const done: Answer = (error, found) => {
      const [first] = found;
      if (error || !first) callback(error, []);
      else if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    };
    const age = ageOf(name);
    const last = known.get(name);
    if (last === undefined || age >= USABLE_MS) return find(name, done);
    if (age >= FRESH_MS) find(name, () => undefined);
    // Later, as DNS would answer: the caller has not finished opening its socket.
    process.nextTick(done, null, last.found);
  };
}
