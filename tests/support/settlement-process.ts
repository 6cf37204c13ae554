/**
 * Appends and drains calls until it is killed; prints a line for each call that its journal has acknowledged.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { startDrain } from '#lib/gateway/settlement/drain';
import { openJournal } from '#lib/gateway/settlement/journal/journal';
import { callOf, closeOf, newId, openOf } from '#tests/support/settlement';

const [url = '', dir = '', workspaceId = '', keyId = ''] = process.argv.slice(2);
const pool = new Pool({ connectionString: url });
const fail = (error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
};
const ownerId = newId();
const journal = openJournal(join(dir), ownerId, { report: () => {}, onWritable: () => {}, onFailure: fail });
startDrain({ pool, journal, onPosted: () => {}, report: fail, everyMs: 5 });
await pool.query(
  `INSERT INTO owner (id, machine, pid, expires_at) VALUES ($1, 'test', $2, now() + interval '1 hour')`,
  [ownerId, process.pid],
);

for (;;) {
  // The drain keeps up, so that recovery takes no minutes on a machine whose disk is faster than its database.
  await pause(20);
  const calls = Array.from({ length: 20 }, (_, count) =>
    callOf({ workspaceId, keyId }, { costNano: BigInt(count + 1), holdNano: 1000n }),
  );
  await Promise.all(calls.map((call) => journal.append(openOf(call))));
  process.stdout.write(calls.map((call) => `open ${call.id}\n`).join(''));
  const ended = calls.slice(0, 18);
  await Promise.all(ended.map((call) => journal.append(closeOf(call))));
  process.stdout.write(ended.map((call) => `close ${call.id} ${call.costNano}\n`).join(''));
}
