// Preloaded into a program that `run` or `become` runs: ties it to the process that started it.
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.channel && process.env.MODEL_GATEWAY_TETHER === String(process.ppid)) {
  let seenMs = Number.NEGATIVE_INFINITY;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      seenMs = performance.now();
      // Listening switched the signal's own effect off; without another listener it is ours to do.
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
    });
  }
  process.on('message', (message) => {
    const signal = message?.passedSignal;
    if (signal && performance.now() - seenMs > 1000) process.kill(process.pid, signal);
  });
  // npm answers SIGTERM by taking its work back, for longer than the next start waits.
  const end = import.meta.url.endsWith('?at-once') ? 'SIGKILL' : 'SIGTERM';
  process.on('disconnect', () => process.kill(process.pid, end));
  process.channel.unref();
}
