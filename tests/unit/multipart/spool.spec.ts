import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSpoolRoom } from '#lib/gateway/flow/upload/spool';

const folder = mkdtempSync(join(tmpdir(), 'spool-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const mebibyte = 1024 * 1024;
const made = (name: string) => {
  mkdirSync(join(folder, name));
  return join(folder, name);
};

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  return Buffer.concat(read).toString();
}

describe('the room of uploads', () => {
  it('each upload has its own file that only its user can read, until it is removed', async () => {
    const room = openSpoolRoom(made('own'), mebibyte);
    const [one, two] = [await room.open('key', 10), await room.open('key', 10)];
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

  it('long uploads are read piece by piece, by several readers at once', async () => {
    const spool = await openSpoolRoom(made('long'), mebibyte).open('key', 10);
    const text = 'abcdefgh'.repeat(50_000);
    await spool.append(Buffer.from(text));
    const readers = [spool.read(0, text.length), spool.read(100_000, 300_000)];
    expect(await Promise.all(readers.map(textOf))).toEqual([text, text.slice(100_000, 300_000)]);
    await spool.remove();
  });

  it('readers fail after the upload was removed, or if they ask for more than there is', async () => {
    const spool = await openSpoolRoom(made('gone'), mebibyte).open('key', 10);
    await spool.append(Buffer.alloc(200_000));
    const reader = spool.read(0, 200_000);
    await reader.next();
    await expect(textOf(spool.read(0, 200_001))).rejects.toThrow('truncated');
    await spool.remove();
    await expect(reader.next()).rejects.toThrow('removed');
  });

  it('an upload waits while others of its key fill their part of the disk', async () => {
    const room = openSpoolRoom(made('full'), 8 * mebibyte);
    const first = await room.open('key', 2 * mebibyte);
    await first.append(Buffer.alloc(2 * mebibyte));
    const second = await room.open('key', 2 * mebibyte);
    await second.append(Buffer.alloc(200_000));
    let wrote = false;
    const writing = second.append(Buffer.alloc(mebibyte)).then(() => {
      wrote = true;
    });
    const other = await room.open('other', 2 * mebibyte);
    await other.append(Buffer.alloc(2 * mebibyte));
    expect(wrote).toBe(false);
    first.received();
    await writing;
    for (const spool of [first, second, other]) await spool.remove();
    expect(readdirSync(join(folder, 'full'))).toEqual([]);
  });

  it('an upload that waited too long for disk space is refused', async () => {
    const room = openSpoolRoom(made('late'), 4 * mebibyte, 20);
    const first = await room.open('key', mebibyte);
    await first.append(Buffer.alloc(mebibyte));
    const second = await room.open('key', mebibyte);
    await expect(second.append(Buffer.alloc(mebibyte))).rejects.toMatchObject({
      refusal: { code: 'local_quota_not_configured', message: expect.stringContaining('disk space') },
    });
    await Promise.all([first.remove(), second.remove()]);
  });
});
