import { noUsage } from '#lib/metering/usage';
import type { AttemptRecord, CallRecord, CountedCall } from '#lib/settlement/entry';

/** Longest text of a row: what clients and providers send is data of strangers. */
const mostText = 1000;
const mostInteger = 2_147_483_647;

/**
 * A row of `call` as JSON text, its attempts inside: what the journal writes and what the drain sends.
 * Written by hand, because it is on the path of every call: a third of the time of building an object for
 * JSON.stringify. Names are the columns'.
 */
export function callRow(call: CallRecord): string {
  return (
    `{"id":"${call.id}","client_request_id":${text(call.clientRequestId)}` +
    `,"at":"${moment(call.atMs)}","workspace_id":"${call.workspaceId}"` +
    `,"key_id":"${call.keyId}","family":"${call.family}","operation":"${call.operation}"` +
    `,"requested_model":${text(call.requestedModel)},"answering_model":${text(call.answeringModel)}` +
    `,"provider":${text(call.provider)},"status":${integer(call.status)}` +
    `,"error_code":${text(call.errorCode)},"streamed":${call.streamed === true}` +
    `,"latency_ms":${integer(call.latencyMs)},"first_byte_ms":${maybe(call.firstByteMs)}` +
    `,"overhead_ms":${Number.isFinite(call.overheadMs) ? call.overheadMs : 0}` +
    `,"attempt_count":${call.attempts.length},"end_reason":"${call.endReason}"` +
    `,"usage_source":"${call.usageSource}","flags":[${list(call.flags, text)}]` +
    `,"usage":${usage(call.usage)},"lines":[${list(call.lines, line)}]` +
    `,"cost_nano":"${call.costNano}","hold_nano":"${call.holdNano}","over_hold_nano":"${call.overHoldNano}"` +
    `,"price_version_id":${text(call.priceVersionId)},"user_agent":${text(call.userAgent)}` +
    `,"attempts":[${list(call.attempts, attemptRow)}]}`
  );
}

/** Without an array of its own: `map` and `join` cost more than what is written for one element. */
function list<One>(all: readonly One[], write: (one: One, position: number) => string): string {
  let written = '';
  for (let at = 0; at < all.length; at++) {
    const one = all[at];
    if (one === undefined) continue;
    written = at === 0 ? write(one, at) : `${written},${write(one, at)}`;
  }
  return written;
}

/**
 * What is known of a call that was only opened: a row with the rest left out, since nobody reads it but
 * recovery.
 */
export function openRow(call: CallRecord): string {
  return (
    `{"id":"${call.id}","client_request_id":${text(call.clientRequestId)},"at":"${moment(call.atMs)}"` +
    `,"workspace_id":"${call.workspaceId}","key_id":"${call.keyId}","family":"${call.family}"` +
    `,"operation":"${call.operation}","requested_model":${text(call.requestedModel)}` +
    `,"streamed":${call.streamed === true},"hold_nano":"${call.holdNano}"` +
    `,"user_agent":${text(call.userAgent)}}`
  );
}

function attemptRow(attempt: AttemptRecord, position: number): string {
  return (
    `{"position":${position},"id":"${attempt.id}","provider":${text(attempt.provider)}` +
    `,"model":${text(attempt.model)},"status":${maybe(attempt.status)},"error":${text(attempt.error)}` +
    `,"start_ms":${integer(attempt.startMs)},"duration_ms":${integer(attempt.durationMs)}` +
    `,"upstream_request_id":${text(attempt.upstreamRequestId)}` +
    `,"possible_duplicate":${attempt.possibleDuplicate === true}}`
  );
}

function usage(used: CallRecord['usage']): string {
  return (
    `{"input":${used.input},"cachedInput":${used.cachedInput},"output":${used.output}` +
    `,"reasoning":${used.reasoning}${isPlain(used) ? plainUsage : rareUsage(used)}}`
  );
}

/** Of most calls: text alone, nothing written to a cache. */
const plainUsage = rareUsage(noUsage);

function isPlain(used: CallRecord['usage']): boolean {
  const { cacheWrite5m, cacheWrite1h, audioInput, audioOutput, imageInput, imageOutput } = used;
  if (cacheWrite5m !== 0 || cacheWrite1h !== 0 || audioInput !== 0 || audioOutput !== 0) return false;
  if (imageInput !== 0 || imageOutput !== 0 || used.images !== 0) return false;
  return used.videoSeconds === 0 && used.webSearches === 0;
}

function rareUsage(used: CallRecord['usage']): string {
  return (
    `,"cacheWrite5m":${used.cacheWrite5m},"cacheWrite1h":${used.cacheWrite1h}` +
    `,"audioInput":${used.audioInput},"audioOutput":${used.audioOutput},"imageInput":${used.imageInput}` +
    `,"imageOutput":${used.imageOutput},"images":${used.images},"videoSeconds":${used.videoSeconds}` +
    `,"webSearches":${used.webSearches}`
  );
}

function line(one: CallRecord['lines'][number]): string {
  return (
    `{"class":${text(one.class)},"quantity":${JSON.stringify(one.quantity)}` +
    `,"unitPriceNano":"${one.unitPriceNano}","cost":${text(one.cost)}}`
  );
}

/** The model that a call counts under: slugs that are not in the catalogue would make rows without end. */
export function countedModel(call: CountedCall): string {
  if (call.answeringModel !== null) return call.answeringModel;
  return call.errorCode === 'model_not_allowed' ? '' : storable(call.requestedModel ?? '');
}

/** Plain text needs no escapes and holds nothing that PostgreSQL refuses. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

function text(value: string | null): string {
  if (value === null) return 'null';
  if (value.length <= mostText && plain.test(value)) return `"${value}"`;
  return JSON.stringify(storable(value));
}

/** Text without what PostgreSQL refuses: NUL and halves of surrogate pairs. */
function storable(value: string): string {
  return value.slice(0, mostText).replaceAll('\u0000', '\uFFFD').toWellFormed();
}

/** The last moment written: many calls share one, and every call writes its own twice. */
let written = { ms: 0, text: '1970-01-01T00:00:00.000Z' };

/** What is no moment stays itself: the database refuses it, and the drain sets that call aside. */
function moment(ms: number): string {
  if (ms === written.ms) return written.text;
  if (!(Math.abs(ms) <= 8.64e15)) return `${ms}`;
  written = { ms, text: new Date(ms).toISOString() };
  return written.text;
}

function maybe(figure: number | null): string {
  return figure === null ? 'null' : `${integer(figure)}`;
}

function integer(figure: number): number {
  return Number.isFinite(figure) ? Math.min(Math.max(Math.round(figure), 0), mostInteger) : 0;
}
