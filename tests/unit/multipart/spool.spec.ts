import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSpoolRoom } from '#lib/gateway/upload/spool';

const folder = mkdtempSync(join(tmpdir(), 'spool-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const mebibyte = 1024 * 1024;

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  return Buffer.concat(read).toString();
}

describe('the room of uploads', () => {
  it('keeps each in a file of its own that only its user reads, until it is removed', async () => {
    const room = openSpoolRoom(join(folder, 'own'), mebibyte);
    const [one, two] = [await room.open(10), await room.open(10)];
    await one.append(Buffer.from('first '));
    await one.append(Buffer.from('piece'));
    await two.append(Buffer.from('other'));
    const files = readdirSync(join(folder, 'own')).map((name) => statSync(join(folder, 'own', name)));
    expect(files.map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o600]);
    expect(await textOf(one.read(0, 11))).toBe('first piece');
    expect(await textOf(one.read(6, 9))).toBe('pie');
    expect(await textOf(one.read(4, 4))).toBe('');
    expect(await textOf(two.read(0, 5))).toBe('other');
    await Promise.all([one.remove(), one.remove(), two.remove()]);
    expect(readdirSync(join(folder, 'own'))).toEqual([]);
  });

  it('reads long ones piece by piece, several readers at once', async () => {
    const spool = await openSpoolRoom(join(folder, 'long'), mebibyte).open(10);
    const text = 'abcdefgh'.repeat(50_000);
    await spool.append(Buffer.from(text));
    const readers = [spool.read(0, text.length), spool.read(100_000, 300_000)];
    expect(await Promise.all(readers.map(textOf))).toEqual([text, text.slice(100_000, 300_000)]);
    await spool.remove();
  });

  it('fails readers that run on, or that ask for more than there is', async () => {
    const spool = await openSpoolRoom(join(folder, 'gone'), mebibyte).open(10);
    await spool.append(Buffer.alloc(200_000));
    const reader = spool.read(0, 200_000);
    await reader.next();
    await expect(textOf(spool.read(0, 200_001))).rejects.toThrow('shorter');
    await spool.remove();
    await expect(reader.next()).rejects.toThrow('removed');
  });

  it('deletes at its start what no living process owns', () => {
    const place = join(folder, 'left');
    openSpoolRoom(place, mebibyte);
    for (const name of [`${process.pid}-a`, '999999999-b', 'c', `${process.ppid}-d`]) {
      writeFileSync(join(place, name), 'x');
    }
    openSpoolRoom(place, mebibyte);
    expect(readdirSync(place)).toEqual([`${process.ppid}-d`]);
  });

  it('lets an upload wait while others fill the disk', async () => {
    const room = openSpoolRoom(join(folder, 'full'), 2 * mebibyte);
    const first = await room.open(2 * mebibyte);
    let came = false;
    const second = room.open(mebibyte).then((spool) => {
      came = true;
      return spool;
    });
    const small = await room.open(1_000);
    expect([came, readdirSync(join(folder, 'full')).length]).toEqual([false, 2]);
    await first.remove();
    await (await second).remove();
    await small.remove();
    expect(readdirSync(join(folder, 'full'))).toEqual([]);
  });
});
