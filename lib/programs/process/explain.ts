import { OperatorError } from '#lib/platform/operator-error';

/** Runs a part of the start; an error that the operator can correct ends it with its message and exit 1. */
export async function orExplain<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(1);
  }
}
