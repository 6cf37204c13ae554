/**
 * The one pass over a JSON body: validates it (strict JSON, strict UTF-8, at most 512 levels) and yields the byte
 * range of every value that the gateway reads. What was checked is what is sent (contract: body/checked-is-sent).
 * What it keeps is limited, whatever the body contains (`scan/collection`).
 */
import type { Scan } from '#lib/core/families/scan/shape';

/** Frees what only `Family.readAsk` needs, because a call may continue for an hour after that. */
export function dropFindings(scan: Scan): void {
  scan.collected = nothing;
  scan.longStrings = nothing;
}

/** Frees the body once no further attempt will send it. */
export function dropBody(scan: Scan): void {
  scan.body = noBytes;
}

const nothing: readonly never[] = [];
const noBytes = new Uint8Array();

/** Of a request without a body that is read. */
export const noScan: Scan = {
  body: noBytes,
  root: { start: 0, end: 0, empty: true },
  found: new Map(),
  nulls: new Map(),
  collected: nothing,
  longStrings: nothing,
};

export { type ScanTurn, scan, scanInSlices } from '#lib/core/families/scan/body';
export type * from '#lib/core/families/scan/shape';
