import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { send } from './sender.ts';

/** A separate thread: its measurements must not wait for the sender of the large bodies. */
const { port, key, everyMs, bytes, pid } = workerData;
const start = '{"model":"bench/text","messages":[{"role":"user","content":"';
const body = Buffer.from(`${start}${'a'.repeat(bytes)}"}]}`);
const path = '/v1/chat/completions';

/** How long the server's thread was ready to run while other processes used its core, ms. */
function waitedMs(): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
}

setInterval(() => {
  const before = waitedMs();
  void send({ port, key, path, contentType: 'application/json', body }).then((sent) =>
    parentPort?.postMessage({ ...sent, ownMs: Math.max(0, sent.ms - (waitedMs() - before)) }),
  );
}, everyMs);
