import type { Logger } from 'pino';
import type { Coordinator } from '#lib/gateway/admission/coordinator';
import { isOtherSchema } from '#lib/platform/data/database-errors';

/** Stops admission while this version cannot settle calls in its database (contract: durability/outdated). */
export interface OutdatedWatch {
  /** A settlement failed. */
  failed(error: unknown): void;
  /** A settlement succeeded. */
  settled(): void;
}

/** @param coordinator called once a settlement has failed. */
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
        'a newer version of the gateway has migrated the database, and this version cannot settle calls there: it accepts no more calls. Start the new version on the same DATA_DIR; it settles the rest',
      );
      coordinator().suspend(
        'outdated',
        'a newer version has migrated its database; retry the request with another process',
      );
    },
    settled() {
      if (!outdated) return;
      outdated = false;
      coordinator().resume('outdated');
    },
  };
}
