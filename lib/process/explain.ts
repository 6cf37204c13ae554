import { DataDirInUse } from '#lib/data/embedded';
import { EnvError } from '#lib/env';
import { PortTaken } from '#lib/process/port';
import { DatabaseAway } from '#lib/process/store';

/** Does a part of the start; what the operator can put right ends it with one sentence and exit 1, without a trace. */
export async function orExplain<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const known = [EnvError, DataDirInUse, DatabaseAway, PortTaken].some((kind) => error instanceof kind);
    if (!known || !(error instanceof Error)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(1);
  }
}
