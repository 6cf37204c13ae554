import { defineConfig } from 'vitest/config';

/** unit: pure, seconds. gateway: real sockets, database and processes. fleet: kills and races. */
export default defineConfig({
  test: {
    teardownTimeout: 60_000,
    // Transformed modules are kept in node_modules: `unit`, `gateway` and `fleet` load the same ones.
    fsModuleCache: true,
    expect: { poll: { timeout: 120_000 } },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['tests/unit/**/*.spec.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 3,
          // Pure functions keep nothing from one file to the next.
          isolate: false,
          setupFiles: ['tests/support/run/draws.ts'],
          globalSetup: ['tests/support/temporary.ts'],
        },
      },
      {
        test: {
          name: 'gateway',
          include: ['tests/gateway/**/*.spec.ts'],
          testTimeout: 240_000,
          hookTimeout: 300_000,
          // They wait as much as they work: for rows of the log, for pauses of providers.
          maxWorkers: 4,
          // Modules are loaded once a worker, which is a third of what a file's tests take. A file leaves nothing behind
          // in them: one that stands in for modules loads its own (vi.resetModules).
          isolate: false,
          setupFiles: ['tests/support/run/draws.ts'],
          globalSetup: [
            'tests/support/temporary.ts',
            'tests/support/database.ts',
            'tests/support/shared/serve-stacks.ts',
          ],
        },
      },
      {
        test: {
          name: 'fleet',
          include: ['tests/fleet/**/*.spec.ts'],
          testTimeout: 600_000,
          hookTimeout: 300_000,
          maxWorkers: 2,
          // As above.
          isolate: false,
          globalSetup: ['tests/support/temporary.ts', 'tests/support/database.ts'],
        },
      },
    ],
  },
});
