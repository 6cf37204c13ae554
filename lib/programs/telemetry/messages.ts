import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import type { TelemetrySettings } from '#lib/platform/env/telemetry-settings';
import type { OwnFile } from '#lib/programs/telemetry/export-files';
import type { LateCharge } from '#lib/programs/telemetry/spans/charge-span';
import type { ServerAddress } from '#lib/programs/telemetry/spans/span';

/** Parameters of the exporter's thread. */
export interface ExportTask {
  readonly settings: TelemetrySettings;
  /** Folder of its files (`ExportFiles`). */
  readonly dir: string;
  /** Of the running process. */
  readonly ownerId: string;
  readonly version: string;
  /** Interval between checks for new calls, ms. */
  readonly everyMs: number;
}

/** From the process to the exporter's thread. */
export type ToExporter =
  /** How far the journal has been written; sent before each look. */
  | { readonly kind: 'files'; readonly own: readonly OwnFile[] }
  | { readonly kind: 'addresses'; readonly addresses: readonly (readonly [string, ServerAddress])[] }
  /** A call that is in no file. */
  | { readonly kind: 'remembered'; readonly call: CallRecord }
  /** `to`: ISO time up to which these are all. */
  | { readonly kind: 'charges'; readonly charges: readonly LateCharge[]; readonly to: string }
  /** The journal cannot be written: disk space is needed. */
  | { readonly kind: 'room' }
  /** Sends waiting calls for at most this long, and ends. */
  | { readonly kind: 'stop'; readonly withinMs: number };

/** The results of calls, counted since the start of the process; each late charge counts as one. */
export interface ExportCounts {
  /** Accepted by the collector. */
  sent: number;
  /** Refused by it permanently. */
  dropped: number;
  /** Never sent to it: the backlog had no room, or a record cannot be read. */
  skipped: number;
  /** Spans that it rejected in requests that it accepted. */
  rejectedSpans: number;
  /** Requests that failed and are sent again. */
  failures: number;
}

/** From the exporter's thread to the process. */
export type FromExporter =
  | {
      readonly kind: 'state';
      readonly counts: ExportCounts;
      /** Bytes of files that the collector does not have yet. */
      readonly backlogBytes: number;
      /** Files of the running process whose links were deleted. */
      readonly done: readonly string[];
      /** Late charges up to then are with the collector, or given up. */
      readonly chargesTo: string | null;
    }
  | { readonly kind: 'log'; readonly level: 'warn' | 'error' | 'info'; readonly message: string }
  | { readonly kind: 'stopped' };
