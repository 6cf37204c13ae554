import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type OwnJournal, openJournal } from '#lib/gateway/settlement/journal/journal';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import type { TelemetrySettings } from '#lib/platform/env/telemetry-settings';
import { EXPORT_FOLDER } from '#lib/programs/telemetry/export-files';
import { type Exporter, type ExporterParts, startExporter } from '#lib/programs/telemetry/exporter';
import { closeOf, newDirectory, newId, openOf } from '#tests/support/settlement';
import type { Collector } from '#tests/support/telemetry/collector';

/** Calls that the journal writes at once, so that the exporter finds all or none of them. */
const together = 5;

/** A journal and its exporter, without a gateway. */
export interface Exporting {
  readonly dir: string;
  readonly ownerId: string;
  readonly journal: OwnJournal;
  readonly exporter: Exporter;
  /** What the exporter logged. */
  readonly logged: string[];
  /** Begins and ends each call and treats it as posted, so that only the exporter still keeps it. */
  serve(calls: readonly CallRecord[]): Promise<void>;
  /** Bytes of the files that wait for the collector. */
  shelved(): number;
  stop(): Promise<void>;
}

export function startExporting(
  collector: Pick<Collector, 'url'>,
  given: {
    readonly dir?: string;
    readonly rotateBytes?: number;
    readonly settings?: Partial<TelemetrySettings>;
    readonly parts?: Partial<ExporterParts>;
  } = {},
): Exporting {
  const dir = given.dir ?? newDirectory();
  const ownerId = newId();
  const logged: string[] = [];
  const settings: TelemetrySettings = {
    url: `${collector.url}/v1/traces`,
    headers: {},
    // A busy machine takes seconds to answer, and most tests are not about repeated requests.
    timeoutMs: 60_000,
    gzip: true,
    resource: [['service.name', 'test']],
    backlogBytes: 1024 ** 3,
    ...given.settings,
  };
  const exporter = startExporter({
    settings,
    journalDir: dir,
    ownerId,
    version: '1.0.0',
    charges: null,
    addresses: () => [['openai chat', { host: 'api.openai.example', port: 443 }]],
    log: (level, message) => logged.push(`${level} ${message}`),
    everyMs: 20,
    chargesEveryMs: 20,
    ...given.parts,
  });
  const journal = openJournal(dir, ownerId, {
    report: (error) => logged.push(error.message),
    onFile: (file) => exporter.begin(file),
    onRemembered: ({ call }) => exporter.remember(call),
    onFailure: () => exporter.makeRoom(),
    onWritable: () => {},
    rotateBytes: given.rotateBytes ?? 1024 * 1024,
  });
  let stopped = false;
  return {
    dir,
    ownerId,
    journal,
    exporter,
    logged,
    async serve(calls) {
      for (let at = 0; at < calls.length; at += together) {
        const ends = calls.slice(at, at + together).map((call) => {
          void journal.append(openOf(call));
          return journal.append(closeOf(call));
        });
        await Promise.all(ends);
      }
      journal.drop(journal.backlog);
    },
    shelved: () => bytesOn(join(dir, EXPORT_FOLDER)),
    async stop() {
      if (stopped) return;
      stopped = true;
      await journal.close();
      await exporter.stop();
    },
  };
}

/** Bytes of the journal files in a directory; 0 if there are none. */
function bytesOn(dir: string): number {
  const names = existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith('.log')) : [];
  return names.reduce(
    (sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
