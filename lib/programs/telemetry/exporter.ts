import { linkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { messageOf } from '#lib/core/errors';
import type { JournalFile } from '#lib/gateway/settlement/journal/journal-files';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import type { TelemetrySettings } from '#lib/platform/env/telemetry-settings';
import { makeExportFolder, type OwnFile, readPositions } from '#lib/programs/telemetry/export-files';
import type { LateCharges } from '#lib/programs/telemetry/late-charges';
import type { ExportCounts, ExportTask, FromExporter, ToExporter } from '#lib/programs/telemetry/messages';
import { delayOf } from '#lib/programs/telemetry/send/pace';
import type { ServerAddress } from '#lib/programs/telemetry/spans/span';

export interface ExporterParts {
  readonly settings: TelemetrySettings;
  /** DATA_DIR/journal. */
  readonly journalDir: string;
  readonly ownerId: string;
  /** Number of the process among those that share the directory; default 1. */
  readonly worker?: number;
  readonly version: string;
  /**
   * Reads late charges from where an earlier process stopped (ISO; null: from now on); null: none are sent.
   */
  readonly charges: ((from: string | null) => LateCharges) | null;
  /** Where providers are reached, by `addressKey`. */
  addresses(): readonly (readonly [string, ServerAddress])[];
  log(level: 'warn' | 'error' | 'info', message: string): void;
  /** Interval between checks for new calls, ms; default 1 s. */
  readonly everyMs?: number;
  /** Interval between checks for late charges, ms; default 15 s. */
  readonly chargesEveryMs?: number;
}

/** The state of the exporter, for metrics. */
export interface ExportState extends ExportCounts {
  /** Bytes of journal files that wait for the collector. */
  readonly backlogBytes: number;
}

/** Sends every call to a collector, in its own thread (docs/guide/telemetry.md). */
export interface Exporter {
  /** A journal file was begun. Never throws. */
  begin(file: JournalFile): void;
  /** A call ended that is in no file. */
  remember(call: CallRecord): void;
  /** The journal cannot be written: gives up the oldest waiting calls to make room for it. */
  makeRoom(): void;
  state(): ExportState;
  /** Keeps sending for a few seconds; the rest waits for the next start. Called after the journal was closed. */
  stop(): Promise<void>;
}

/** Limits of the thread's heap, beyond which the thread is ended and started again. */
const memory = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
const stopWithinMs = 3_000;
const program = new URL('./export-thread.ts', import.meta.url);

/** @throws Error of the file system, if waiting calls cannot be stored. */
export function startExporter(parts: ExporterParts): Exporter {
  const { settings, ownerId, version, log, everyMs = 1_000, chargesEveryMs = 15_000 } = parts;
  const dir = makeExportFolder(parts.journalDir, parts.worker);
  const task: ExportTask = { settings, dir, ownerId, version, everyMs };
  const late = parts.charges?.(readPositions(dir).chargesTo) ?? null;
  let own: { readonly name: string; readonly file: JournalFile }[] = [];
  let state: ExportState = {
    sent: 0,
    dropped: 0,
    skipped: 0,
    rejectedSpans: 0,
    failures: 0,
    backlogBytes: 0,
  };
  /** The counts of earlier threads. */
  let before: ExportCounts = state;
  let waiting: { readonly to: string; done(): void } | null = null;
  let looking = false;
  /** Whether the thread knows the addresses of providers. */
  let placed = false;
  let crashes = 0;
  let stopping = false;
  let stopped: (() => void) | null = null;
  let thread = start();

  function start(): Worker {
    const worker = new Worker(program, { workerData: task, execArgv: [], resourceLimits: memory });
    worker.unref();
    worker.on('message', hear);
    worker.on('error', (error) => log('error', `telemetry: its thread ended: ${error.message}`));
    worker.on('exit', () => {
      stopped?.();
      before = state;
      waiting = null;
      if (stopping) return;
      setTimeout(
        () => {
          if (stopping) return;
          thread = start();
          tick();
        },
        delayOf(++crashes, null, Math.random()),
      ).unref();
    });
    placed = false;
    return worker;
  }

  function say(message: ToExporter): void {
    thread.postMessage(message);
  }

  function hear(message: FromExporter): void {
    if (message.kind === 'log') log(message.level, message.message);
    else if (message.kind === 'stopped') stopped?.();
    else {
      const { counts, backlogBytes, done, chargesTo } = message;
      state = { ...added(before, counts), backlogBytes };
      own = own.filter(({ name, file }) => isCurrent(file) || !done.includes(name));
      if (waiting && chargesTo === waiting.to) waiting.done();
    }
  }

  function isCurrent(file: JournalFile): boolean {
    return own.at(-1)?.file === file && !stopping;
  }

  function tick(): void {
    const files = own.map(({ name, file }): OwnFile => ({ name, size: file.size, current: isCurrent(file) }));
    if (!placed) place();
    say({ kind: 'files', own: files });
  }

  function place(): void {
    const addresses = parts.addresses();
    placed = addresses.length > 0;
    say({ kind: 'addresses', addresses });
  }

  async function look(): Promise<void> {
    if (!late || looking || waiting) return;
    looking = true;
    try {
      const { charges, toMs } = await late.read();
      const to = new Date(toMs).toISOString();
      waiting = {
        to,
        done: () => {
          waiting = null;
          late.told(charges, toMs);
        },
      };
      place();
      say({ kind: 'charges', charges, to });
    } catch (error) {
      log(
        'warn',
        `telemetry: late charges cannot be read: ${error instanceof Error ? error.message : error}`,
      );
    } finally {
      looking = false;
    }
  }

  const ticks = setInterval(tick, everyMs).unref();
  const looks = setInterval(() => void look(), chargesEveryMs).unref();

  return {
    begin(file) {
      const name = basename(file.path);
      try {
        linkSync(file.path, join(dir, name));
        own.push({ name, file });
      } catch (error) {
        const why = messageOf(error);
        log('error', `telemetry: the calls of one journal file will be missing, it cannot be linked: ${why}`);
      }
    },
    remember: (call) => say({ kind: 'remembered', call }),
    makeRoom: () => say({ kind: 'room' }),
    state: () => state,
    async stop() {
      stopping = true;
      clearInterval(ticks);
      clearInterval(looks);
      const ended = new Promise<void>((resolve) => {
        stopped = resolve;
        setTimeout(resolve, stopWithinMs + 1_000).unref();
      });
      tick();
      say({ kind: 'stop', withinMs: stopWithinMs });
      await ended;
      await thread.terminate();
    },
  };
}

function added(one: ExportCounts, other: ExportCounts): ExportCounts {
  return {
    sent: one.sent + other.sent,
    dropped: one.dropped + other.dropped,
    skipped: one.skipped + other.skipped,
    rejectedSpans: one.rejectedSpans + other.rejectedSpans,
    failures: one.failures + other.failures,
  };
}
