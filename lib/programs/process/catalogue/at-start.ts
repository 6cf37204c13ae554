import { join } from 'node:path';
import type { ControlHost } from '#lib/control/operations/run';
import { messageOf } from '#lib/core/errors';
import {
  fillCatalogue,
  missingOfCatalogue,
  type ShippedFiles,
  takeOverCatalogue,
} from '#lib/programs/process/catalogue/take-over';

export interface CatalogueStart {
  readonly host: ControlHost;
  /** Folder of the catalogue files that come with this version. */
  readonly catalogueDir: string;
  readonly dataDir: string;
  /** The embedded default, which adds new models automatically. */
  readonly embedded: boolean;
  /** The simulated provider runs. */
  readonly sandbox: boolean;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    isLevelEnabled(level: 'warn'): boolean;
  };
}

/** How many differences a log line names; the command shows all of them. */
const MOST_NAMED = 10;

/**
 * Fills an empty database with the catalogue of this version. Otherwise logs how the two differ and the command that
 * applies the differences; the embedded default applies what is new automatically
 * (contract: operations/catalogue-start). Never fails: an installation must start with the catalogue that it has.
 */
export async function meetCatalogue(start: CatalogueStart): Promise<void> {
  const vendors = { of: 'vendors', path: start.catalogueDir, skip: ['sandbox.yaml'] } as const;
  const simulated = { of: 'sandbox', path: join(start.catalogueDir, 'sandbox.yaml'), skip: [] } as const;
  await meet(start, vendors, 'catalogue.json', 'catalogue');
  if (start.sandbox) {
    await meet(start, simulated, 'catalogue-sandbox.json', 'catalogue/sandbox.yaml');
  }
}

async function meet(
  start: CatalogueStart,
  files: ShippedFiles,
  record: string,
  argument: string,
): Promise<void> {
  const { host, embedded, log } = start;
  const command = `gateway catalogue apply ${argument}`;
  try {
    let left: readonly string[];
    if (embedded) {
      const shipped = { ...files, recordPath: join(start.dataDir, record) };
      const found = await takeOverCatalogue(host, shipped);
      if (found.taken.length > 0) {
        log.info(
          { changes: found.taken.length, first: found.taken.slice(0, MOST_NAMED) },
          'catalogue updated',
        );
      }
      left = found.left;
    } else if (await fillCatalogue(host, files)) {
      log.info({ catalogue: files.of }, 'the catalogue of this version was applied to the empty database');
      return;
    } else if (!log.isLevelEnabled('warn')) {
      // The result would not be logged, and reading and comparing the files takes half a second of the processor.
      return;
    } else {
      left = await missingOfCatalogue(host.db, files, host.sealingKey ?? null);
    }
    if (left.length === 0) return;
    log.warn(
      { differences: left.length, first: left.slice(0, MOST_NAMED), command },
      'the database differs from the catalogue of this version: apply the catalogue with the command, or ignore this',
    );
  } catch (error) {
    const reason = messageOf(error);
    log.warn({ reason, command }, 'the catalogue of this version could not be compared with the database');
  }
}
