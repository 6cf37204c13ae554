import { textTokens } from '#tools/sandbox/content/tokens';
import { argumentsIn } from '#tools/sandbox/content/tool-call';
import type { Frame } from '#tools/sandbox/dialect';
import type { Message } from '#tools/sandbox/messages/compose';
import { messageUsage } from '#tools/sandbox/messages/usage';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';

interface Payload {
  readonly type: string;
  readonly [name: string]: unknown;
}

const thought = 'The prompt is answered in its own words.';
const signature = 'c2FuZGJveA==';
const searched = { type: 'server_tool_use', id: 'srvtoolu_sandbox', name: 'web_search' };
const results = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_sandbox', content: [] };

/** The content of a whole answer. */
export function blocksOf({ choice, searches }: Message): object[] {
  const text = [...choice.pieces].join('');
  return [
    ...(choice.reasoning > 0 ? [{ type: 'thinking', thinking: thought, signature }] : []),
    ...(searches > 0 ? [{ ...searched, input: { query: 'sandbox' } }, results] : []),
    ...(choice.tool
      ? [{ type: 'tool_use', id: choice.tool.id, name: choice.tool.name, input: argumentsIn(text) }]
      : text === ''
        ? []
        : [{ type: 'text', text }]),
  ];
}

/** A stream's events in the order of the family: start, blocks with a ping among them, delta, stop. */
export function* messageFrames(head: object, message: Message, behaviour: Behaviour): Generator<Frame> {
  const { choice, searches, truth } = message;
  const started = messageUsage(message, behaviour.usage, 'start');
  const shell = { ...head, content: [], stop_reason: null, stop_sequence: null };
  yield frame({ type: 'message_start', message: withUsage(shell, started) }, 0, started);
  let index = 0;
  if (choice.reasoning > 0) {
    const block = { type: 'thinking', thinking: '', signature: '' };
    yield frame({ type: 'content_block_start', index, content_block: block }, choice.reasoning);
    yield frame(delta(index, { type: 'thinking_delta', thinking: thought }), 0);
    yield frame(delta(index, { type: 'signature_delta', signature }), 0);
    yield frame({ type: 'content_block_stop', index }, 0);
    index += 1;
  }
  for (const block of searches > 0 ? [{ ...searched, input: {} }, results] : []) {
    yield frame({ type: 'content_block_start', index, content_block: block }, 0);
    yield frame({ type: 'content_block_stop', index }, 0);
    index += 1;
  }
  const { tool } = choice;
  const block = tool
    ? { type: 'tool_use', id: tool.id, name: tool.name, input: {} }
    : { type: 'text', text: '' };
  yield frame({ type: 'content_block_start', index, content_block: block }, tool ? textTokens(tool.name) : 0);
  yield frame({ type: 'ping' }, 0);
  for (const piece of choice.pieces) {
    const part = tool
      ? { type: 'input_json_delta', partial_json: piece }
      : { type: 'text_delta', text: piece };
    yield { ...frame(delta(index, part), 1), content: true };
  }
  yield frame({ type: 'content_block_stop', index }, 0);
  if (behaviour.extra === 'moderation') yield frame({ type: 'moderation', flagged: false }, 0);
  const reported = (output?: number) => {
    const usage = messageUsage(message, behaviour.usage, 'delta', output);
    const end = { type: 'message_delta', delta: { stop_reason: message.stopReason, stop_sequence: null } };
    return frame(withUsage(end, usage), 0, usage);
  };
  if (behaviour.usagePlace === 'twice') yield reported(Math.floor(truth.outputTokens / 2));
  yield reported();
  yield frame({ type: 'message_stop' }, 0);
  if (behaviour.extra === 'done-twice') yield frame({ type: 'message_stop' }, 0);
}

function delta(index: number, part: object): Payload {
  return { type: 'content_block_delta', index, delta: part };
}

function withUsage<Body extends object>(body: Body, usage: object | null | undefined): Body {
  return usage === undefined ? body : { ...body, usage };
}

/** The event's name is the type of its payload. */
function frame(payload: Payload, tokens: number, usage?: object | null): Frame {
  const reported = usage ? { usage } : {};
  return { name: payload.type, data: JSON.stringify(payload), content: false, tokens, ...reported };
}
