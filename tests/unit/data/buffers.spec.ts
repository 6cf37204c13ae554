import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buffersFor } from '#lib/platform/data/embedded/buffers';

const MIB = 1024 * 1024;

it.each([
  ['a new one', 28 * MIB, '16MB'],
  ['one of 100 MiB', 100 * MIB, '50MB'],
  ['one of a million calls', 700 * MIB, '128MB'],
])('the buffers of the embedded database are half of its files, 16 to 128 MiB: %s', (_, bytes, buffers) => {
  const place = mkdtempSync(join(tmpdir(), 'gateway-buffers-'));
  mkdirSync(join(place, 'base', '5'), { recursive: true });
  const file = join(place, 'base', '5', '16384');
  writeFileSync(file, '');
  truncateSync(file, bytes);
  expect(buffersFor(place)).toBe(buffers);
  rmSync(place, { recursive: true });
});
