import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openJournal } from '#lib/gateway/settlement/journal/journal';
import { listLeftovers } from '#lib/gateway/settlement/set-aside';
import { callOf, closeOf, newDirectory, newId } from '#tests/support/settlement';

const program = fileURLToPath(new URL('set-aside-process.ts', import.meta.url));

it('what was set aside behind a write that the disk cut short can be read again', async () => {
  const dir = newDirectory();
  const ownerId = newId();
  // Files end at 24 KiB: inside the third record.
  const limited = ['-c', 'ulimit -f 24; exec "$0" "$@"', process.execPath, program, dir, ownerId];
  const cut = spawnSync('bash', limited, { encoding: 'utf8' });
  expect(cut.stderr).toContain('EFBIG');
  const kept = cut.stdout.trim().split('\n');
  expect(kept).toHaveLength(2);

  const journal = openJournal(dir, ownerId, { report: () => {}, onWritable: () => {}, onFailure: () => {} });
  const next = closeOf(callOf({ workspaceId: newId(), keyId: newId() }));
  journal.setAside(next);
  await journal.close();
  const reports: string[] = [];
  const read = listLeftovers(dir, new Set()).flatMap((left) => [
    ...left.entries((error) => reports.push(error.message), 0),
  ]);
  expect(reports).toEqual([]);
  expect(read.map(({ entry }) => entry.callId)).toEqual([...kept, next.callId]);
});
