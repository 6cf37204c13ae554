import { usageClasses } from '#lib/core/metering/usage';
import { LONGEST_SLUG } from '#lib/core/schemas/catalogue';
import type { CallRecord, CountedCall } from '#lib/gateway/settlement/pure/entry';
import { isOwnAnswer, ownModel } from '#lib/gateway/settlement/pure/own-answer';
import { callColumns, openColumns, typeIds } from '#lib/gateway/settlement/pure/record/columns';
import { type KeptColumns, type RowBytes, RowWriter } from '#lib/gateway/settlement/pure/record/row-writer';
import { jsonOf, storable } from '#lib/gateway/settlement/pure/record/storable';
import { attemptJson } from '#lib/gateway/settlement/pure/record/stored-attempts';

const writer = new RowWriter();
const mostExact = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * A row of `call` as the database receives it, of type `call_record`: what the journal writes and what the drain sends.
 * @returns bytes that are good until the next row is written.
 */
export function callRow(call: CallRecord): RowBytes {
  writer.begin(callColumns.length);
  writeBeginning(call);
  writer.int(call.status);
  writer.int(call.latencyMs);
  writer.real(call.overheadMs);
  writer.bigint(call.costNano);
  writer.int(call.firstByteMs);
  writeAnswering(call);
  writer.text(call.errorCode);
  writer.text(call.endReason);
  writer.text(call.usageSource);
  if (call.flags.length === 0) writer.null(typeIds['text[]']);
  else writer.texts(call.flags);
  writer.json(usageJson(call.usage));
  writer.json(linesJson(call.lines));
  writer.json(attemptsJson(call));
  return writer;
}

/**
 * What is known of a call that was only opened: the first columns of its row, since only recovery reads it.
 * @returns bytes that are good until the next row is written.
 */
export function openRow(call: CallRecord): RowBytes {
  writer.begin(openColumns.length);
  writeBeginning(call);
  return writer;
}

/** What a call knows from its start. */
function writeBeginning(call: CallRecord): void {
  writer.uuid(call.id);
  writer.timestamptz(call.atMs);
  writer.bigint(call.holdNano);
  writer.bool(call.streamed);
  writeAsking(call);
  writer.text(call.clientRequestId);
}

type Asking = Pick<
  CallRecord,
  'workspaceId' | 'keyId' | 'family' | 'operation' | 'requestedModel' | 'userAgent'
>;
type Answering = Pick<CallRecord, 'answeringModel' | 'provider' | 'priceVersionId'>;

/** Written last: a program asks again and again in the same words, and each call writes its own twice. */
let asked: Asking | null = null;
let answered: Answering | null = null;
const askedColumns: KeptColumns = { bytes: Buffer.alloc(0), end: 0 };
const answeredColumns: KeptColumns = { bytes: Buffer.alloc(0), end: 0 };

function writeAsking(call: Asking): void {
  const { workspaceId, keyId, family, operation, requestedModel, userAgent } = call;
  if (
    asked !== null &&
    keyId === asked.keyId &&
    workspaceId === asked.workspaceId &&
    operation === asked.operation &&
    family === asked.family &&
    requestedModel === asked.requestedModel &&
    userAgent === asked.userAgent
  ) {
    writer.again(askedColumns);
    return;
  }
  const from = writer.end;
  writer.uuid(workspaceId);
  writer.uuid(keyId);
  writer.text(family);
  writer.text(operation);
  writer.text(requestedModel);
  writer.text(userAgent);
  writer.keep(from, askedColumns);
  asked = { workspaceId, keyId, family, operation, requestedModel, userAgent };
}

function writeAnswering(call: Answering): void {
  const { answeringModel, provider, priceVersionId } = call;
  if (
    answered !== null &&
    priceVersionId === answered.priceVersionId &&
    provider === answered.provider &&
    answeringModel === answered.answeringModel
  ) {
    writer.again(answeredColumns);
    return;
  }
  const from = writer.end;
  writer.text(answeringModel);
  writer.text(provider);
  writer.uuid(priceVersionId);
  writer.keep(from, answeredColumns);
  answered = { answeringModel, provider, priceVersionId };
}

/** Without an array of its own: `map` and `join` cost more than what is written for one element. */
function list<One>(all: readonly One[], write: (one: One) => string): string {
  let written = '';
  for (let at = 0; at < all.length; at++) {
    const one = all[at];
    if (one === undefined) continue;
    written = at === 0 ? write(one) : `${written},${write(one)}`;
  }
  return written;
}

function attemptsJson(call: CallRecord): string {
  const [first] = call.attempts;
  if (first !== undefined && call.attempts.length === 1) return `[${attemptJson(first, call)}]`;
  return `[${call.attempts.map((one) => attemptJson(one, call)).join()}]`;
}

/** The classes that count something; of most calls `input` and `output`. */
function usageJson(used: CallRecord['usage']): string {
  let written = `{"input":${used.input},"output":${used.output}`;
  if (isPlain(used)) return `${written}}`;
  for (const name of rareClasses) if (used[name] !== 0) written += `,"${name}":${used[name]}`;
  return `${written}}`;
}

const rareClasses = usageClasses.filter((name) => name !== 'input' && name !== 'output');

/** Only text, without cache and reasoning: checked by name, because a lookup of each name costs more. */
function isPlain(used: CallRecord['usage']): boolean {
  const { cachedInput, cacheWrite5m, cacheWrite1h, reasoning, audioInput, audioOutput } = used;
  if (cachedInput !== 0 || cacheWrite5m !== 0 || cacheWrite1h !== 0 || reasoning !== 0) return false;
  const { imageInput, imageOutput, images, videoSeconds, webSearches } = used;
  if (audioInput !== 0 || audioOutput !== 0 || imageInput !== 0 || imageOutput !== 0) return false;
  if (used.characters !== 0 || used.audioMs !== 0) return false;
  if (used.cachedAudioInput !== 0 || used.cachedImageInput !== 0) return false;
  return images === 0 && videoSeconds === 0 && webSearches === 0;
}

/** By position, in the order of `storedLine`: how calls, jobs and adjustments store what they cost. */
export function linesJson(lines: CallRecord['lines']): string {
  return `[${list(lines, line)}]`;
}

function line(one: CallRecord['lines'][number]): string {
  return `[${jsonOf(one.class)},${one.quantity},${priceJson(one.unitPriceNano)}]`;
}

/** As a number, `2e9` for 2000000000; as a string if a reader of JSON numbers would round it. */
function priceJson(nano: bigint): string {
  if (nano > mostExact) return `"${nano}"`;
  const price = Number(nano);
  if (price === 0) return '0';
  if (price % 1e9 === 0) return `${price / 1e9}e9`;
  return price % 1e6 === 0 ? `${price / 1e6}e6` : `${price}`;
}

/** The model that a call counts under: slugs that are not in the catalogue would make rows without end. */
export function countedModel(call: CountedCall): string {
  if (isOwnAnswer(call)) return ownModel;
  if (call.answeringModel !== null) return call.answeringModel;
  if (call.errorCode === 'model_not_allowed') return '';
  const asked = storable(call.requestedModel ?? '');
  return Buffer.byteLength(asked) <= LONGEST_SLUG ? asked : '';
}
