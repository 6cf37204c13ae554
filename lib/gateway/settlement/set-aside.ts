import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { readJournal } from '#lib/gateway/settlement/record/read';

/** A record that could not be posted: damaged, or whole but refused by the database or unknown to this version. */
export interface SetAside {
  readonly kind: 'damaged' | 'rejected';
  /** The file in DATA_DIR/journal that keeps its bytes. */
  readonly file: string;
  /** Call of the record; null when it cannot be read. */
  readonly callId: string | null;
  /** The record's own kind: `open`, `checkpoint`, `close`, `refused`, `keep`; null when it cannot be read. */
  readonly record: string | null;
}

const damageSchema = z.object({
  /** The journal file in which it stood, and its first byte there. */
  file: z.string(),
  atByte: z.int(),
  callId: z.string().nullable(),
  record: z.string().nullable(),
  /** ISO time of the start that found it. */
  foundAt: z.string(),
  /** The bytes as they were found, base64. */
  bytes: z.string(),
});

/** One line of `<owner id>.damaged`, as JSON. */
type Damage = z.infer<typeof damageSchema>;

/** Damaged bytes of the journal file `path` as `<owner id>.damaged` keeps them. @param nowMs ms since the epoch. */
export function damageOf(path: string, atByte: number, bytes: Buffer, nowMs: number): Damage {
  const head = /"(open|checkpoint|close|refused|keep)","([0-9a-f-]{36})"/.exec(bytes.toString('latin1'));
  return {
    file: basename(path).replace(/\.corrupt$/, ''),
    atByte,
    callId: head?.[2] ?? null,
    record: head?.[1] ?? null,
    foundAt: new Date(nowMs).toISOString(),
    bytes: bytes.toString('base64'),
  };
}

/** Adds to `<owner id>.damaged`, each place once; the file is replaced whole. @throws Error of the file system. */
export function keepDamage(dir: string, ownerId: string, found: readonly Damage[]): void {
  if (found.length === 0) return;
  const path = join(dir, `${ownerId}.damaged`);
  const lines = readLines(path);
  const places = new Set(lines.map(placeOf));
  for (const line of found.map((one) => JSON.stringify(one)))
    if (!places.has(placeOf(line))) lines.push(line);
  replaceFile(path, Buffer.from(lines.map((line) => `${line}\n`).join('')));
}

/** A line up to its second value: the journal file and the byte at which the damage begins. */
function placeOf(line: string): string {
  return line.split(',', 2).join();
}

/** Replaces a file by these bytes; without any, it is deleted. @throws Error of the file system. */
export function replaceFile(path: string, bytes: Buffer): void {
  if (bytes.length === 0) {
    rmSync(path, { force: true });
    return;
  }
  writeFileSync(`${path}.tmp`, bytes, { mode: 0o600, flush: true });
  renameSync(`${path}.tmp`, path);
}

/**
 * Everything that was set aside in a journal directory; nothing when it does not exist.
 * @throws Error of the file system.
 */
export function listSetAside(dir: string): SetAside[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .sort()
    .flatMap((file) => {
      if (file.endsWith('.damaged')) return damagedIn(join(dir, file), file);
      return file.endsWith('.rejected') ? rejectedIn(join(dir, file), file) : [];
    });
}

/** How many records of each kind are set aside in a journal directory. @throws Error of the file system. */
export function countSetAside(dir: string): { damaged: number; rejected: number } {
  const found = listSetAside(dir);
  const damaged = found.filter((one) => one.kind === 'damaged').length;
  return { damaged, rejected: found.length - damaged };
}

function damagedIn(path: string, file: string): SetAside[] {
  return readLines(path).map((line) => ({ kind: 'damaged', file, ...readDamage(line) }));
}

function rejectedIn(path: string, file: string): SetAside[] {
  return [...readJournal(path)].map((piece) =>
    piece.kind === 'entry'
      ? { kind: 'rejected', file, callId: piece.entry.callId, record: piece.entry.kind }
      : { kind: 'rejected', file, callId: null, record: null },
  );
}

function readLines(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

/** A line that is not valid still counts as damage. */
function readDamage(line: string): Pick<Damage, 'callId' | 'record'> {
  try {
    const { callId, record } = damageSchema.parse(JSON.parse(line));
    return { callId, record };
  } catch {
    return { callId: null, record: null };
  }
}
