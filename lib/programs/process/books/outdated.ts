import type { Logger } from 'pino';
import type { Coordinator } from '#lib/gateway/admission/claim';
import { isOtherSchema } from '#lib/platform/data/database-errors';

/** Stops admission while this version cannot settle calls in its database (contract: durability/outdated). */
export interface OutdatedWatch {
  /** A settlement failed. */
  failed(error: unknown): void;
  /** A settlement succeeded. */
  settled(): void;
}

/** @param coordinator asked for once a settlement has failed. */
export function watchOutdated(
  coordinator: () => Pick<Coordinator, 'suspend' | 'resume'>,
  log: Pick<Logger, 'fatal'>,
): OutdatedWatch {
  let outdated = false;
  return {
    failed(error) {
      if (outdated || !isOtherSchema(error)) return;
      outdated = true;
      log.fatal(
        'a newer version of the gateway has migrated the database, and this one cannot settle calls there: it admits no more of them. Start the new version on the same DATA_DIR, which settles the rest',
      );
      coordinator().suspend(
        'outdated',
        'a newer version has migrated its database; send the request again to another process',
      );
    },
    settled() {
      if (!outdated) return;
      outdated = false;
      coordinator().resume('outdated');
    },
  };
}
