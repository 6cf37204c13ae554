import fc from 'fast-check';

/** What decides about everything that a test draws: `TEST_SEED=7 npm test -- unit` looks for rarer faults. */
export const seed = Number(process.env.TEST_SEED ?? 1);

// A setup file of vitest: the same cases are drawn in every run, in every file and whichever ran before it.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
