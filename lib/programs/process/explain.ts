import { DatabaseAway } from '#lib/platform/data/database-errors';
import { DataDirInUse, EmbeddedFailed } from '#lib/platform/data/embedded';
import { MigrationRefused } from '#lib/platform/data/migrate';
import { EnvError } from '#lib/platform/env/env';
import { DataDirUnusable } from '#lib/platform/files/data-directory';
import { ListenRefused } from '#lib/programs/process/listener/port';
import { SecretRefused } from '#lib/programs/process/secrets';

const explained = [
  EnvError,
  DataDirUnusable,
  DataDirInUse,
  EmbeddedFailed,
  DatabaseAway,
  MigrationRefused,
  ListenRefused,
  SecretRefused,
];

/** Does a part of the start; what the operator can put right ends it with one sentence and exit 1, without a trace. */
export async function orExplain<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const known = explained.some((kind) => error instanceof kind);
    if (!known || !(error instanceof Error)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(1);
  }
}
