import { textTokens } from '#tools/sandbox/content/tokens';
import type { Frame } from '#tools/sandbox/dialect';
import type { OutputItem } from '#tools/sandbox/responses/compose';
import type { KeptResponse } from '#tools/sandbox/responses/kept';
import { itemTypes, itemView, type Status, statusOf, textPart, viewOf } from '#tools/sandbox/responses/view';

/** One event before it is numbered. */
interface Told {
  readonly type: string;
  readonly fields: object;
  readonly content?: true;
  readonly tokens?: number;
  readonly usage?: unknown;
}

/**
 * A stream's events in the order of the family: created, (queued,) in_progress, each item with all its events, then
 * exactly one end. Numbered from 0.
 * @param after events up to this number were seen before; -1: none.
 * @param nowMs when it was requested, ms since the epoch.
 */
export function* responseFrames(kept: KeptResponse, nowMs: number, after = -1): Generator<Frame> {
  let number = 0;
  for (const { type, fields, content, tokens, usage } of eventsOf(kept, nowMs)) {
    const sequence = number++;
    if (sequence <= after) continue;
    const data = JSON.stringify({ type, sequence_number: sequence, ...fields });
    yield { name: type, data, content: content ?? false, tokens: tokens ?? 0, usage: usage ?? undefined };
  }
}

function* eventsOf(kept: KeptResponse, nowMs: number): Generator<Told> {
  const { composition, course } = kept;
  const at = (status: Status, type: string): Told => {
    const { body, usage } = viewOf(kept, status);
    return { type, fields: { response: body }, usage };
  };
  yield at(course ? 'queued' : 'in_progress', 'response.created');
  if (course) yield at('queued', 'response.queued');
  yield at('in_progress', 'response.in_progress');
  const cancelled = statusOf(kept, nowMs) === 'cancelled';
  if (course?.end === 'failed') return yield at('failed', 'response.failed');
  if (cancelled) return yield at('cancelled', 'response.cancelled');
  const { items, incomplete } = composition;
  for (const [index, item] of items.entries()) {
    yield* itemEvents(item, index, incomplete && index === items.length - 1);
  }
  yield at(
    incomplete ? 'incomplete' : 'completed',
    incomplete ? 'response.incomplete' : 'response.completed',
  );
}

function* itemEvents(item: OutputItem, index: number, incomplete: boolean): Generator<Told> {
  const place = { item_id: item.id, output_index: index };
  yield {
    type: 'response.output_item.added',
    fields: { output_index: index, item: opening(item) },
    tokens: item.kind === 'reasoning' ? item.tokens : item.kind === 'call' ? textTokens(item.name) : 0,
  };
  if (item.kind === 'message') yield* messageEvents(item, place);
  if (item.kind === 'call') yield* callEvents(item, place);
  if (item.kind === 'search') {
    for (const step of ['in_progress', 'searching', 'completed']) {
      yield { type: `response.web_search_call.${step}`, fields: place };
    }
  }
  if (item.kind === 'image') yield* imageEvents(item, place);
  yield {
    type: 'response.output_item.done',
    fields: { output_index: index, item: itemView(item, incomplete) },
  };
}

function* messageEvents(item: Extract<OutputItem, { kind: 'message' }>, place: object): Generator<Told> {
  const part = { ...place, content_index: 0 };
  const empty = { type: 'output_text', text: '', annotations: [], logprobs: [] };
  yield { type: 'response.content_part.added', fields: { ...part, part: empty } };
  let shown = 0;
  for (const delta of item.choice.pieces) {
    const obfuscation = 'x7Kp2mQ9vL4sT8'.slice(0, 1 + (shown++ % 14));
    const fields = { ...part, delta, logprobs: [], obfuscation };
    yield { type: 'response.output_text.delta', fields, content: true, tokens: 1 };
  }
  const done = textPart(item);
  yield {
    type: 'response.output_text.done',
    fields: { ...part, ...done, type: 'response.output_text.done' },
  };
  yield { type: 'response.content_part.done', fields: { ...part, part: done } };
}

function* callEvents(item: Extract<OutputItem, { kind: 'call' }>, place: object): Generator<Told> {
  const type = 'response.function_call_arguments';
  for (const delta of item.choice.pieces) {
    yield { type: `${type}.delta`, fields: { ...place, delta }, content: true, tokens: 1 };
  }
  const whole = [...item.choice.pieces].join('');
  yield { type: `${type}.done`, fields: { ...place, name: item.name, arguments: whole } };
}

function* imageEvents(item: Extract<OutputItem, { kind: 'image' }>, place: object): Generator<Told> {
  const type = 'response.image_generation_call';
  yield { type: `${type}.in_progress`, fields: place };
  yield { type: `${type}.generating`, fields: place };
  for (let partial = 0; partial < item.partials; partial++) {
    const picture = { partial_image_index: partial, partial_image_b64: item.result };
    yield { type: `${type}.partial_image`, fields: { ...place, ...picture } };
  }
  yield { type: `${type}.completed`, fields: place };
}

/** An item before any of its content has been sent. */
function opening(item: OutputItem): object {
  const begun = { id: item.id, type: itemTypes[item.kind], status: 'in_progress' };
  switch (item.kind) {
    case 'reasoning':
      return { id: item.id, type: 'reasoning', summary: [] };
    case 'call':
      return { ...begun, call_id: item.callId, name: item.name, arguments: '' };
    case 'message':
      return { ...begun, role: 'assistant', content: [] };
    default:
      return begun;
  }
}
