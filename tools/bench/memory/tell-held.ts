import { writeFileSync } from 'node:fs';

/**
 * Loaded into a server under test: at SIGUSR2 it collects all garbage and writes to the file that BENCH_HELD names how
 * many bytes are held then, in the heap and outside of it. Needs `--expose-gc`.
 */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(process.env.BENCH_HELD ?? '', `${heapUsed + external}\n`);
});
