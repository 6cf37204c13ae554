import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { usageOf } from '#lib/core/metering/usage';
import { type JournalOptions, type OwnJournal, openJournal } from '#lib/gateway/settlement/journal/journal';
import type { Entry } from '#lib/gateway/settlement/pure/entry';
import { readCallRow } from '#lib/gateway/settlement/record/payload';
import { piecesOf, readJournal } from '#lib/gateway/settlement/record/read';
import { callOf, closeOf, keepOf, newDirectory, newId, openOf, refusedOf } from '#tests/support/settlement';

const customer = { workspaceId: newId(), keyId: newId() };
const neverFails: JournalOptions = {
  report: () => {},
  onWritable: () => {},
  onFailure: (error) => {
    throw error;
  },
};

/** An entry as a journal gives it back: as a row holds it, without NUL and halves of surrogate pairs. */
function stored(entry: Entry): Entry {
  if (entry.kind === 'keep') return { kind: entry.kind, callId: entry.callId, resources: entry.resources };
  const userAgent = entry.call.userAgent?.replaceAll('\u0000', '\uFFFD').toWellFormed() ?? null;
  const { row: _, ...rest } = { row: undefined, ...entry };
  return { ...rest, call: { ...entry.call, userAgent } } as Entry;
}

/** The entries of a file, and the places in it, from byte to byte, that hold none. */
function readAll(file: string | Buffer): { entries: Entry[]; damaged: [number, number][] } {
  const pieces = [...(typeof file === 'string' ? readJournal(file) : piecesOf(file))];
  return {
    entries: pieces.flatMap((piece) => (piece.kind === 'entry' ? [piece.entry] : [])),
    damaged: pieces.flatMap(({ kind, start, end }) => (kind === 'damaged' ? [[start, end]] : [])),
  };
}

const filesOf = (dir: string) => readdirSync(dir).sort();
const onlyFile = (dir: string) => join(dir, filesOf(dir)[0] ?? '');

describe('the journal (contract: durability/journal)', () => {
  it('gives back every entry as it was appended, including big amounts and odd strings', async () => {
    const dir = newDirectory();
    const journal = openJournal(dir, newId(), neverFails);
    const call = callOf(customer, {
      overheadMs: 0.5,
      costNano: 2n ** 62n,
      userAgent: 'Zoë "quoted" \u0000 \u{1F4B8} \ud800',
      usage: usageOf({ input: Number.MAX_SAFE_INTEGER }),
      flags: ['usage_anomaly'],
      lines: [{ class: 'input:nested', quantity: 3, unitPriceNano: 2n ** 60n }],
    });
    const entries: Entry[] = [
      openOf(call),
      { kind: 'checkpoint', callId: call.id, call },
      closeOf(call, 'row'),
      refusedOf(customer),
      keepOf(call, { id: 'resp_é "1"', tokens: 2 ** 40 }, { kind: 'file', job: true }),
    ];
    await Promise.all(entries.map((entry) => journal.append(entry)));
    expect(readAll(onlyFile(dir))).toEqual({ entries: entries.map(stored), damaged: [] });
    await journal.close();
  });

  it('has an append with the kernel when its promise resolves, and shares one write among a tick', async () => {
    const dir = newDirectory();
    const journal = openJournal(dir, newId(), neverFails);
    const first = journal.append(openOf(callOf(customer)));
    expect(journal.append(openOf(callOf(customer)))).toBe(first);
    expect(readAll(onlyFile(dir)).entries).toHaveLength(0);
    await first;
    expect(readAll(onlyFile(dir)).entries).toHaveLength(2);
    await journal.close();
  });

  it('drops a last record that was torn at any byte, and only that one', async () => {
    const dir = newDirectory();
    const journal = openJournal(dir, newId(), neverFails);
    await journal.append(openOf(callOf(customer)));
    const whole = readFileSync(onlyFile(dir)).length;
    await journal.append(closeOf(callOf(customer)));
    const bytes = readFileSync(onlyFile(dir));
    for (let length = whole; length < bytes.length; length++) {
      const read = readAll(bytes.subarray(0, length));
      expect(read.entries).toHaveLength(1);
      expect(read.damaged).toEqual([]);
    }
    const zeros = Buffer.concat([bytes.subarray(0, whole), Buffer.alloc(4096)]);
    expect(readAll(zeros)).toMatchObject({ entries: [{}], damaged: [] });
    await journal.close();
  });

  it('loses one record to a changed byte, wherever in it that is, and reads those around it', async () => {
    const dir = newDirectory();
    const journal = openJournal(dir, newId(), neverFails);
    const ends: number[] = [0];
    const calls = Array.from({ length: 4 }, () => callOf(customer, { attempts: [] }));
    for (const call of calls) {
      await journal.append(openOf(call));
      ends.push(readFileSync(onlyFile(dir)).length);
    }
    const bytes = readFileSync(onlyFile(dir));
    // Of the first, a middle and the last record: length, checksum, kind, payload and closing bracket.
    for (const struck of [0, 1, 3]) {
      const [start = 0, end = 0] = ends.slice(struck, struck + 2);
      for (let at = start; at < end; at++) {
        const copy = Buffer.from(bytes);
        copy[at] = (copy[at] ?? 0) ^ (at % 2 === 0 ? 0xff : 0x01);
        const read = readAll(copy);
        expect(read.damaged, `byte ${at}`).toEqual([[start, end]]);
        expect(read.entries.map((entry) => entry.callId)).toEqual(
          calls.filter((_, index) => index !== struck).map((call) => call.id),
        );
      }
    }
    await journal.close();
  });

  it('reads the rest of a file that was damaged while it waited for the drain, and keeps that file', async () => {
    const dir = newDirectory();
    const reports: string[] = [];
    const report = (error: Error) => reports.push(error.message);
    const journal = openJournal(dir, newId(), { ...neverFails, report, mostHeld: 1 });
    const calls = Array.from({ length: 6 }, () => callOf(customer));
    const ends: number[] = [];
    for (const call of calls) {
      await journal.append(closeOf(call));
      ends.push(readFileSync(onlyFile(dir)).length);
    }
    const bytes = readFileSync(onlyFile(dir));
    // The third and the last: both were left to the file.
    for (const at of [(ends[1] ?? 0) + 20, (ends[4] ?? 0) + 20]) bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(onlyFile(dir), bytes);
    const drained: string[] = [];
    for (let batch = journal.next(10); batch.length > 0; batch = journal.next(10)) {
      drained.push(...batch.map((entry) => entry.callId));
      journal.drop(batch.length);
    }
    expect(drained).toEqual([0, 1, 3, 4].map((index) => calls[index]?.id));
    expect(reports).toHaveLength(2);
    expect(journal.backlog).toBe(0);
    await journal.close();
    expect(filesOf(dir)).toHaveLength(1);
  });

  it('begins a new file past its size, and deletes an old one when all in it has ended and is drained', async () => {
    const dir = newDirectory();
    const journal = openJournal(dir, newId(), { ...neverFails, rotateBytes: 1 });
    const call = callOf(customer);
    await journal.append(openOf(call));
    await journal.append(closeOf(call));
    expect(filesOf(dir)).toHaveLength(1);
    await journal.append(closeOf(callOf(customer)));
    expect(filesOf(dir)).toHaveLength(2);
    journal.drop(1);
    expect(filesOf(dir)).toHaveLength(1);
    journal.drop(1);
    await journal.close();
    expect(filesOf(dir)).toEqual([]);
  });

  it('carries a long call along, so that an hour-long stream does not keep an hour of files', async () => {
    const dir = newDirectory();
    const journal = openJournal(dir, newId(), { ...neverFails, rotateBytes: 1 });
    const long = callOf(customer);
    await journal.append(openOf(long));
    await journal.append({ kind: 'checkpoint', callId: long.id, call: long });
    for (let count = 0; count < 20; count++) {
      await journal.append(closeOf(callOf(customer)));
      journal.drop(1);
    }
    const files = filesOf(dir);
    expect(files.length).toBeLessThanOrEqual(3);
    const kept = files.flatMap((name) => readAll(join(dir, name)).entries);
    expect(kept.filter((entry) => entry.callId === long.id).map((entry) => entry.kind)).toEqual([
      'open',
      'checkpoint',
    ]);
    await journal.append(closeOf(long));
    journal.drop(1);
    await journal.close();
    expect(filesOf(dir)).toEqual([]);
  });

  it('keeps a bounded part of the ended calls in memory and reads the rest back in order', async () => {
    const dir = newDirectory();
    const journal = openJournal(dir, newId(), { ...neverFails, mostHeld: 10, rotateBytes: 20_000 });
    const expected: string[] = [];
    for (let tick = 0; tick < 40; tick++) {
      const calls = Array.from({ length: 5 }, () => callOf(customer));
      expected.push(...calls.map((call) => call.id));
      await Promise.all(
        calls.flatMap((call) => [journal.append(openOf(call)), journal.append(closeOf(call))]),
      );
    }
    expect(journal.backlog).toBe(200);
    const drained: string[] = [];
    for (let batch = journal.next(7); batch.length > 0; batch = journal.next(7)) {
      drained.push(...batch.map((entry) => entry.callId));
      journal.drop(batch.length);
      if (drained.length === 70) {
        const late = callOf(customer);
        expected.push(late.id);
        await journal.append(closeOf(late));
      }
    }
    expect(drained).toEqual(expected);
    expect(journal.backlog).toBe(0);
    await journal.close();
    expect(filesOf(dir)).toEqual([]);
  });

  it('reports how long the oldest ended call has waited, in memory and in its files', async () => {
    let nowMs = 1_000;
    const mono = () => nowMs;
    const journal = openJournal(newDirectory(), newId(), { ...neverFails, mono, mostHeld: 1 });
    expect(journal.oldestMs).toBe(0);
    for (let ended = 0; ended < 3; ended += 1) {
      await journal.append(closeOf(callOf(customer)));
      nowMs += 100;
    }
    const waited: number[] = [];
    while (journal.next(1).length > 0) {
      waited.push(journal.oldestMs);
      journal.drop(1);
    }
    // The last two were left to the file, which knows when the first of them came.
    expect(waited).toEqual([300, 200, 200]);
    nowMs += 100;
    expect(journal.oldestMs).toBe(0);
    await journal.close();
  });

  it('keeps the row of each ended call until it is dropped, while the memory of others is used again', async () => {
    const journal = openJournal(newDirectory(), newId(), neverFails);
    const check = (count: number) => {
      const batch = journal.next(count);
      for (const entry of batch) {
        if (entry.kind === 'keep' || !entry.written) throw new Error('a row was expected');
        const row = readCallRow(entry.written.subarray(entry.start, entry.end));
        expect(row).toMatchObject({ id: entry.callId, userAgent: entry.callId.repeat(20) });
      }
      journal.drop(batch.length);
      return batch.length;
    };
    let drained = 0;
    for (let tick = 0; tick < 200; tick++) {
      const calls = Array.from({ length: 50 }, () => {
        const id = newId();
        return callOf(customer, { id, userAgent: id.repeat(20) });
      });
      await Promise.all(calls.flatMap((one) => [journal.append(openOf(one)), journal.append(closeOf(one))]));
      // The drain lags by up to 2,000 calls, and catches up: pages come free and are written again.
      if (tick % 40 > 20) drained += check(90);
    }
    while (journal.backlog > 0) drained += check(1000);
    expect(drained).toBe(10_000);
    await journal.close();
  });

  it('reads on after a file that is gone because only the start of a call was at its end', async () => {
    const dir = newDirectory();
    const journal = openJournal(dir, newId(), { ...neverFails, mostHeld: 1, rotateBytes: 1_000 });
    const [first, second, third] = [callOf(customer), callOf(customer), callOf(customer)];
    await journal.append(closeOf(first));
    await journal.append(closeOf(second));
    const drain = () => {
      const ids = journal.next(1).map((entry) => entry.callId);
      journal.drop(ids.length);
      return ids;
    };
    expect(drain()).toEqual([first.id]);
    // Now the file has been read to its end; only a start comes behind it, whose end is in the next file.
    expect(journal.next(1).map((entry) => entry.callId)).toEqual([second.id]);
    await journal.append(openOf(third));
    await journal.append(closeOf(third));
    expect(filesOf(dir)).toHaveLength(2);
    journal.drop(1);
    expect(filesOf(dir)).toHaveLength(1);
    expect(drain()).toEqual([third.id]);
    expect(journal.backlog).toBe(0);
    await journal.close();
    expect(filesOf(dir)).toEqual([]);
  });

  it('leaves ends to the files beyond a number of bytes too, and has each row whole when it is read back', async () => {
    const dir = newDirectory();
    const journal = openJournal(dir, newId(), { ...neverFails, mostHeldBytes: 100_000 });
    const bytesBefore = process.memoryUsage().arrayBuffers;
    const expected: string[] = [];
    for (let count = 0; count < 3_000; count++) {
      // Each is written as two bytes: 4 KiB a row.
      const call = callOf(customer, { userAgent: 'é'.repeat(1000), requestedModel: 'ü'.repeat(1000) });
      expected.push(call.id);
      await journal.append(closeOf(call));
    }
    expect(process.memoryUsage().arrayBuffers - bytesBefore).toBeLessThan(20 * 1024 * 1024);
    const drained: string[] = [];
    for (let batch = journal.next(100); batch.length > 0; batch = journal.next(100)) {
      for (const entry of batch) {
        if (entry.kind === 'keep' || !entry.written) throw new Error('a row was expected');
        const row = readCallRow(entry.written.subarray(entry.start, entry.end));
        expect(row).toMatchObject({ id: entry.callId, userAgent: 'é'.repeat(1000) });
        drained.push(entry.callId);
      }
      journal.drop(batch.length);
    }
    expect(drained).toEqual(expected);
    // Memory takes what comes from now on.
    await journal.append(closeOf(callOf(customer)));
    const [file] = filesOf(dir);
    rmSync(join(dir, file ?? ''));
    expect(journal.next(10)).toHaveLength(1);
    journal.drop(1);
    await journal.close();
  });

  it('continues when an old file cannot be deleted, and counts correctly', async () => {
    const dir = newDirectory();
    const journal = openJournal(dir, newId(), { ...neverFails, rotateBytes: 1 });
    const calls = Array.from({ length: 3 }, () => callOf(customer));
    const [first, second, third] = calls;
    if (!first || !second || !third) throw new Error('three calls were expected');
    await journal.append(openOf(first));
    await journal.append(closeOf(first));
    const old = onlyFile(dir);
    // What stands there now no file system deletes as a file.
    rmSync(old);
    mkdirSync(old);
    await journal.append(closeOf(second));
    await journal.append(closeOf(third));
    expect(journal.next(10).map((entry) => entry.callId)).toEqual(calls.map((call) => call.id));
    journal.drop(2);
    expect(journal.backlog).toBe(1);
    expect(journal.next(10).map((entry) => entry.callId)).toEqual([third.id]);
    journal.drop(1);
    expect(journal.next(10)).toEqual([]);
    await journal.close();
    expect(filesOf(dir)).toHaveLength(1);
  });

  describe('on a disk that refuses it', () => {
    /** A journal whose next write begins a new file, in a directory that is gone until `free`. */
    async function fullDisk(mostHeld = 10) {
      const dir = newDirectory();
      const failures: Error[] = [];
      const writable = Promise.withResolvers<void>();
      const onWritable = () => writable.resolve();
      const onFailure = (error: Error) => failures.push(error);
      const options = { ...neverFails, rotateBytes: 1, probeMs: 5, mostHeld, onFailure, onWritable };
      const journal = openJournal(dir, newId(), options);
      const call = callOf(customer);
      await journal.append(openOf(call));
      rmSync(dir, { recursive: true });
      return { dir, journal, call, failures, free: () => mkdirSync(dir), writable: writable.promise };
    }
    const waiting = (journal: OwnJournal) => journal.next(100).map((entry) => entry.callId);

    it('rejects an append and keeps nothing of it, so that a refused call is not charged', async () => {
      const { journal, call, failures } = await fullDisk();
      await expect(journal.append(closeOf(call))).rejects.toThrow('ENOENT');
      await expect(journal.append(openOf(callOf(customer)))).rejects.toThrow('ENOENT');
      expect(failures).toHaveLength(1);
      expect(waiting(journal)).toEqual([]);
      await journal.close().catch(() => {});
    });

    it('hands the drain what it was told to remember, and as many refused calls as fit in memory', async () => {
      const { journal, call } = await fullDisk(3);
      await expect(journal.append(closeOf(call))).rejects.toThrow('ENOENT');
      journal.remember(closeOf({ ...call, status: 500, costNano: 0n }));
      const refused = Array.from({ length: 5 }, () => refusedOf(customer));
      for (const entry of refused) journal.remember(entry);
      expect(waiting(journal)).toEqual([call.id, ...refused.slice(0, 2).map((entry) => entry.callId)]);
      const [first] = journal.next(1);
      if (first?.kind !== 'close' || !first.written) throw new Error('the row of a close was expected');
      expect(readCallRow(first.written)).toMatchObject({ id: call.id, status: 500, costNano: 0n });
      journal.drop(3);
      expect(journal.backlog).toBe(0);
      await journal.close().catch(() => {});
    });

    it('tries by itself until the disk takes writes again, and goes on in a new file', async () => {
      const { dir, journal, free, writable, failures } = await fullDisk();
      await expect(journal.append(openOf(callOf(customer)))).rejects.toThrow('ENOENT');
      free();
      await writable;
      const after = callOf(customer);
      await journal.append(closeOf(after));
      expect(filesOf(dir).flatMap((name) => readAll(join(dir, name)).entries)).toMatchObject([
        { kind: 'close', callId: after.id },
      ]);
      // The next spell of failures is told again.
      rmSync(dir, { recursive: true });
      await expect(journal.append(openOf(callOf(customer)))).rejects.toThrow('ENOENT');
      expect(failures).toHaveLength(2);
      await journal.close().catch(() => {});
    });
  });
});
