// Preloaded into a program that `become` runs: ties it to the process that started it.
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.channel) {
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
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
