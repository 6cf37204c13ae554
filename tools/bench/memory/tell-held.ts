import { writeFileSync } from 'node:fs';

/**
 * Loaded into a server under test: at SIGUSR2 it collects all garbage, and writes how many bytes are still held, in the
 * heap and outside, to the file named by BENCH_HELD. Needs `--expose-gc`.
 */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(process.env.BENCH_HELD ?? '', `${heapUsed + external}\n`);
});
