import { existsSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DrainedEntry, Entry } from '#lib/settlement/entry';
import { readJournalName } from '#lib/settlement/journal-files';
import { encodeEntry, type Payload } from '#lib/settlement/record/encode';
import { recordsOf } from '#lib/settlement/record/frame';
import { readJournal } from '#lib/settlement/record/read';

/** What one dead process left in DATA_DIR/journal. */
export class Leftovers {
  readonly ownerId: string;
  readonly #dir: string;
  readonly #paths: string[];
  readonly #damaged = new Set<string>();

  constructor(dir: string, ownerId: string, paths: string[]) {
    this.#dir = dir;
    this.ownerId = ownerId;
    this.#paths = paths;
  }

  /** Every entry that can be read, in the order in which it was written. */
  *entries(report: (error: Error) => void): Generator<Entry> {
    // Rejected ends come last: the `open` of such a call may still stand in a file.
    for (const path of [...this.#paths, this.#rejectedPath]) {
      if (!existsSync(path)) continue;
      try {
        const records = readJournal(path);
        let next = records.next();
        for (; !next.done; next = records.next()) yield next.value.entry;
        if (next.value.kind === 'corrupt') {
          throw new Error(`damaged at byte ${next.value.atByte} of ${next.value.fileBytes}`);
        }
      } catch (error) {
        this.#damaged.add(path);
        const why = error instanceof Error ? error.message : String(error);
        report(new Error(`journal file ${path} was read in part and is kept as ${path}.corrupt: ${why}`));
      }
    }
  }

  /** Everything readable is in the database: what it refused is kept for the next start, the rest goes. */
  remove(refused: readonly DrainedEntry[]): void {
    this.#keep(refused);
    for (const path of this.#paths) {
      if (this.#damaged.has(path)) renameSync(path, `${path}.corrupt`);
      else unlinkSync(path);
    }
  }

  get #rejectedPath(): string {
    return join(this.#dir, `${this.ownerId}.rejected`);
  }

  #keep(refused: readonly DrainedEntry[]): void {
    const path = this.#rejectedPath;
    if (this.#damaged.has(path)) renameSync(path, `${path}.corrupt`);
    if (refused.length === 0) {
      if (existsSync(path)) unlinkSync(path);
      return;
    }
    const payloads = new Map<string, Payload>();
    for (const entry of refused) {
      const payload = encodeEntry(entry);
      // A call ends once, but may have kept several things.
      payloads.set(entry.kind === 'keep' ? `${payload.head}${payload.row}` : entry.callId, payload);
    }
    writeFileSync(`${path}.tmp`, recordsOf([...payloads.values()]), { mode: 0o600, flush: true });
    renameSync(`${path}.tmp`, path);
  }
}

/** The dead owners that left files in a journal directory; none when it does not exist. */
export function listLeftovers(dir: string, alive: ReadonlySet<string>): Leftovers[] {
  const numbers = new Map<string, number[]>();
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    const rejected = /^([0-9a-f-]{36})\.rejected$/.exec(name)?.[1];
    const file = rejected === undefined ? readJournalName(name) : { ownerId: rejected, number: 0 };
    if (file && !alive.has(file.ownerId)) {
      numbers.set(file.ownerId, [...(numbers.get(file.ownerId) ?? []), file.number]);
    }
  }
  return [...numbers].map(([ownerId, found]) => {
    const written = found.filter((number) => number > 0).sort((a, b) => a - b);
    const paths = written.map((number) => join(dir, `${ownerId}-${number}.log`));
    return new Leftovers(dir, ownerId, paths);
  });
}
