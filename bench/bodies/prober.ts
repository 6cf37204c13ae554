import { parentPort, workerData } from 'node:worker_threads';
import { send } from './sender.ts';

/** A thread of its own: what it measures must not wait for the sender of the large bodies. */
const { port, key, everyMs, bytes } = workerData;
const start = '{"model":"sandbox/free","messages":[{"role":"user","content":"';
const body = Buffer.from(`${start}${'a'.repeat(bytes)}"}]}`);
const path = '/v1/chat/completions';
setInterval(() => {
  void send({ port, key, path, contentType: 'application/json', body }).then((sent) =>
    parentPort?.postMessage(sent),
  );
}, everyMs);
