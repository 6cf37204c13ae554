import type { Logger } from 'pino';
import type { Coordinator } from '#lib/gateway/admission/coordinator';
import { isOtherSchema } from '#lib/platform/data/database-errors';

/**
 * Stops admission while this version cannot settle calls in its database (contract: durability/outdated).
 * @param coordinator called once a settlement has failed.
 */
export function watchOutdated(
  coordinator: () => Pick<Coordinator, 'suspend' | 'resume'>,
  log: Pick<Logger, 'fatal'>,
) {
  let outdated = false;
  return {
    /** A settlement failed. */
    failed(error: unknown) {
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
    /** A settlement succeeded. */
    settled() {
      if (!outdated) return;
      outdated = false;
      coordinator().resume('outdated');
    },
  };
}
