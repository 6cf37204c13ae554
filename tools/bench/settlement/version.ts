import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as partitions from '#lib/control/retention/partitions';
import type * as journal from '#lib/gateway/settlement/journal/journal';
import type * as settlement from '#lib/gateway/settlement/settle';
import type * as embedded from '#lib/platform/data/embedded';
import type * as directory from '#lib/platform/data/embedded-directory';
import type * as migration from '#lib/platform/data/migrate';

/** What the measurement uses of one version of the gateway. */
export interface Version {
  readonly name: string;
  readonly openEmbedded: typeof embedded.openEmbedded;
  readonly findHolder: typeof directory.findHolder;
  readonly migrate: typeof migration.migrate;
  readonly makePartitions: typeof partitions.makePartitions;
  readonly openJournal: typeof journal.openJournal;
  readonly settle: typeof settlement.settle;
}

/** @param root a checkout of the gateway with its dependencies; its modules are loaded beside our own. */
export async function loadVersion(name: string, root: string): Promise<Version> {
  const modules = ['data/embedded', 'data/embedded-directory', 'data/migrate', 'data/partitions'];
  const loaded = await Promise.all(
    [...modules, 'settlement/journal', 'settlement/settle'].map((module) => load(root, module)),
  );
  return Object.assign({ name }, ...loaded.map((module) => ({ ...module })));
}

/** Other versions export the same names: otherwise the first call of one fails. */
function load(root: string, module: string): Promise<Omit<Version, 'name'>> {
  return import(pathToFileURL(join(root, 'lib', `${module}.ts`)).href);
}
