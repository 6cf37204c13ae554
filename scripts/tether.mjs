// Preloaded into a program that `run` or `become` starts: ends it together with the process that started it.
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.channel && process.env.MODEL_GATEWAY_TETHER === String(process.ppid)) {
  let seenMs = Number.NEGATIVE_INFINITY;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      seenMs = performance.now();
      // A listener disables the signal's default effect; if this is the only one, exit here.
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
    });
  }
  process.on('message', (message) => {
    const signal = message?.passedSignal;
    if (signal && performance.now() - seenMs > 1000) process.kill(process.pid, signal);
  });
  // After SIGTERM, npm undoes its work, which takes longer than the next start waits.
  const end = import.meta.url.endsWith('?at-once') ? 'SIGKILL' : 'SIGTERM';
  process.on('disconnect', () => process.kill(process.pid, end));
  process.channel.unref();
}
