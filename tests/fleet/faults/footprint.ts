import { readdirSync, readFileSync } from 'node:fs';

/** What a process takes at a moment. */
export interface Footprint {
  readonly rssMiB: number;
  /** Open files and sockets. */
  readonly descriptors: number;
}

export function footprintOf(pid: number): Footprint {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  return { rssMiB: Math.round(kib / 1024), descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/** Means of the second and of the last quarter: what a process that has warmed up takes, and what it takes in the end. */
export function growthOf(samples: readonly Footprint[]): { early: Footprint; late: Footprint } {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  const mean = (part: readonly Footprint[], of: keyof Footprint) =>
    Math.round(part.reduce((sum, one) => sum + one[of], 0) / Math.max(1, part.length));
  const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)].map((part) => ({
    rssMiB: mean(part, 'rssMiB'),
    descriptors: mean(part, 'descriptors'),
  }));
  if (!early || !late) throw new Error('no samples');
  return { early, late };
}
