import { record } from '#tools/sandbox/content/tool-call';
import type { Composition, OutputItem } from '#tools/sandbox/responses/compose';
import type { KeptResponse } from '#tools/sandbox/responses/kept';
import { responseUsage } from '#tools/sandbox/responses/usage';
import { type JobStand, standOf } from '#tools/sandbox/scenario/job';
import { parseName } from '#tools/sandbox/scenario/name';

export type Status = JobStand['state'] | 'incomplete' | 'cancelled';

/** The fields of the request that its answer repeats. */
const repeated = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
};

/** The part of a response that does not change while it is made. */
export function headOf(
  id: string,
  atMs: number,
  asked: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const own = Object.keys(repeated).map((key) => [key, asked[key]]);
  return {
    id,
    object: 'response',
    created_at: Math.floor(atMs / 1000),
    model: asked.model,
    ...repeated,
    ...Object.fromEntries(own.filter(([, value]) => value !== undefined && value !== null)),
    ...(asked.conversation
      ? { conversation: { id: record(asked.conversation).id ?? asked.conversation } }
      : {}),
  };
}

/** The current status of a stored response. */
export function statusOf({ composition, course, cancelledAtMs }: KeptResponse, nowMs: number): Status {
  if (cancelledAtMs !== null) return 'cancelled';
  const state = course === null ? 'completed' : standOf(course, nowMs).state;
  return state === 'completed' && composition.incomplete ? 'incomplete' : state;
}

/** The whole response object in one of its states, and the usage in it. */
export function viewOf(kept: KeptResponse, status: Status): { body: object; usage: unknown } {
  const { head, composition, behaviour } = kept;
  const ended = status === 'completed' || status === 'incomplete';
  const reported = ended || (status === 'cancelled' && parseName(kept.model).params.has('cancelled_usage'));
  const usage = reported ? responseUsage(composition.truth, behaviour.usage) : null;
  const body = {
    ...head,
    status,
    error: status === 'failed' ? { code: 'server_error', message: 'The model failed to respond.' } : null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    output: ended ? outputOf(composition) : [],
    service_tier: ended ? composition.truth.serviceTier : 'auto',
    ...(reported ? { tool_usage: composition.toolUsage } : {}),
    ...(usage === undefined ? {} : { usage }),
  };
  return { body, usage };
}

function outputOf({ items, incomplete }: Composition): object[] {
  return items.map((item, index) => itemView(item, incomplete && index === items.length - 1));
}

export const itemTypes = {
  reasoning: 'reasoning',
  search: 'web_search_call',
  image: 'image_generation_call',
  call: 'function_call',
  message: 'message',
} as const;

/** An item in the whole answer. */
export function itemView(item: OutputItem, incomplete = false): Record<string, unknown> {
  const type = itemTypes[item.kind];
  const done = { id: item.id, type, status: incomplete ? 'incomplete' : 'completed' };
  switch (item.kind) {
    case 'reasoning':
      return {
        id: item.id,
        type,
        summary: [],
        ...(item.sealed === null ? {} : { encrypted_content: item.sealed }),
      };
    case 'search':
      return { ...done, action: { type: 'search', query: item.query } };
    case 'image':
      return { ...done, output_format: 'png', quality: 'low', size: '1024x1024', result: item.result };
    case 'call': {
      const { callId, name, choice } = item;
      return { ...done, call_id: callId, name, arguments: [...choice.pieces].join('') };
    }
    case 'message':
      return { ...done, role: 'assistant', content: [textPart(item)] };
  }
}

export function textPart(item: Extract<OutputItem, { kind: 'message' }>): object {
  return { type: 'output_text', text: [...item.choice.pieces].join(''), annotations: [], logprobs: [] };
}
