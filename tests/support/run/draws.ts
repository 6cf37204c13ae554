import fc from 'fast-check';

/** Determines all random values in tests: `TEST_SEED=7 npm test -- unit` looks for rarer faults. */
export const seed = Number(process.env.TEST_SEED ?? 1);

// A setup file for vitest: the same cases are drawn in every run and in every file, whichever ran before it.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
