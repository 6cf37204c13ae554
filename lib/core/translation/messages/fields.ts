import { listIn, objectIn } from '#lib/core/families/reading/json';
import { type Fate, type FieldTable, sampled, strictIfPossible } from '#lib/core/translation/fates';

const carried: Fate = { is: 'carried' };
const whole: Fate = { is: 'carried', opaque: true };
const lost: Fate = { is: 'lost' };

function lostUnless(...same: readonly unknown[]): Fate {
  return { is: 'lost', harmless: (value) => same.includes(value) };
}

function refused(why: string): Fate {
  return { is: 'refused', why };
}

function approximated(how: string): Fate {
  return { is: 'approximated', how, opaque: true };
}

const cacheMark = approximated('other providers cache prompts by themselves');
const thinking = approximated('kept for models of the maker that signed it');
const storedFile = refused(
  'A stored file can be read only by its own provider; send the data (source.type "base64") or a URL.',
);
const known =
  /^(text|image|document|search_result|thinking|redacted_thinking|tool_use|tool_result|tool_reference|server_tool_use|mcp_tool_use|[a-z_]+_tool_result)$/;
const blockType: Fate = {
  is: 'refused',
  why: 'Blocks of this type can be read only by models of the messages protocol; leave the block out.',
  harmless: (value) => typeof value === 'string' && known.test(value),
};

/** Blocks that carry something for the model, in a message or in the result of a tool. */
function blockFields(path: string): FieldTable {
  return {
    [path]: carried,
    [`${path}[].type`]: blockType,
    [`${path}[].text`]: carried,
    [`${path}[].cache_control`]: cacheMark,
    [`${path}[].title`]: approximated('the name of a PDF file; for a text, its first line'),
    ...sourceFields(`${path}[].source`),
    [`${path}[].context`]: lost,
    [`${path}[].transformations`]: lost,
    [`${path}[].citations`]: {
      is: 'lost',
      harmless: (value) => isEmpty(value) || objectIn(value)?.enabled === false,
    },
  };
}

function sourceFields(path: string): FieldTable {
  return {
    [path]: { is: 'approximated', how: 'a document that is text and a search result become text' },
    [`${path}.type`]: carried,
    [`${path}.media_type`]: carried,
    [`${path}.data`]: carried,
    [`${path}.url`]: carried,
    [`${path}.file_id`]: storedFile,
    [`${path}.content`]: approximated('becomes content of the message'),
  };
}

const effort = approximated('the closest effort that the model has');
function toolType(translates: (type: unknown) => boolean): Fate {
  return {
    is: 'refused',
    why: "This tool of Anthropic's models has no counterpart; declare a tool with an input_schema.",
    harmless: translates,
  };
}

/** What becomes of each field of a messages request (docs/decisions/translation.md). */
export const fields: FieldTable = {
  model: carried,
  stream: carried,
  max_tokens: carried,
  messages: carried,
  'messages[].role': carried,
  ...blockFields('messages[].content'),
  ...blockFields('messages[].content[].content'),
  'messages[].content[].id': carried,
  'messages[].content[].name': carried,
  'messages[].content[].input': whole,
  'messages[].content[].caller': { is: 'lost', harmless: (value) => objectIn(value)?.type === 'direct' },
  'messages[].content[].toolset_name': lost,
  'messages[].content[].tool_use_id': carried,
  'messages[].content[].is_error': {
    rest: lostUnless(false),
    responses: approximated('the result is {"error": …}, unless it has pictures'),
    'generate-content': approximated('the result is the error, unless it has pictures'),
  },
  'messages[].content[].thinking': thinking,
  'messages[].content[].signature': thinking,
  'messages[].content[].data': thinking,
  system: carried,
  'system[].type': carried,
  'system[].text': carried,
  'system[].cache_control': cacheMark,
  'system[].citations': lost,
  cache_control: cacheMark,
  temperature: { rest: carried, responses: sampled },
  top_p: { rest: carried, responses: sampled },
  top_k: { rest: lost, 'generate-content': carried },
  stop_sequences: { rest: carried, responses: { is: 'lost', harmless: isEmpty } },
  thinking: carried,
  'thinking.type': approximated('enabled thinking is shown; disabled is the least that the model can do'),
  'thinking.budget_tokens': {
    rest: approximated('low effort up to 4,096 tokens, medium up to 16,384, else high'),
    'generate-content': approximated('at most 24,576 tokens'),
  },
  'thinking.display': approximated('thinking is shown unless it is "omitted"'),
  output_config: carried,
  'output_config.effort': effort,
  'output_config.task_budget': lost,
  'output_config.format': carried,
  'output_config.format.type': carried,
  'output_config.format.schema': { rest: whole, chat: strictIfPossible, responses: strictIfPossible },
  output_format: carried,
  'output_format.type': carried,
  'output_format.schema': { rest: whole, chat: strictIfPossible, responses: strictIfPossible },
  tools: carried,
  'tools[].type': {
    rest: toolType(
      (type) => type === 'custom' || (typeof type === 'string' && type.startsWith('web_search_')),
    ),
    chat: toolType((type) => type === 'custom'),
  },
  'tools[].name': carried,
  'tools[].description': carried,
  'tools[].input_schema': whole,
  'tools[].strict': {
    rest: carried,
    'generate-content': approximated('arguments are validated'),
  },
  'tools[].cache_control': cacheMark,
  'tools[].eager_input_streaming': approximated('arguments are streamed as the provider sends them'),
  'tools[].defer_loading': lostUnless(false),
  'tools[].allowed_callers': {
    is: 'lost',
    harmless: (value) => listIn(value).every((one) => one === 'direct'),
  },
  'tools[].input_examples': lost,
  'tools[].max_uses': lost,
  'tools[].blocked_domains': lost,
  'tools[].allowed_domains': { rest: lost, responses: whole },
  'tools[].user_location': { rest: lost, responses: whole },
  tool_choice: carried,
  'tool_choice.type': carried,
  'tool_choice.name': carried,
  'tool_choice.disable_parallel_tool_use': { rest: carried, 'generate-content': lostUnless(false) },
  metadata: carried,
  'metadata.user_id': {
    rest: approximated('the user; if longer than 64 characters, its SHA-256'),
    'generate-content': lost,
  },
  user_profile_id: lost,
  workspace_id: lost,
  diagnostics: lost,
  billing_policy: lost,
  fallbacks: { is: 'lost', harmless: isEmpty },
  fallback_credit_token: lost,
  service_tier: lostUnless('auto', 'standard_only'),
  speed: lostUnless('standard'),
  inference_geo: {
    is: 'refused',
    why: 'No other protocol names where a model runs; choose the region by the model.',
    harmless: (value) => value === 'global',
  },
  context_management: { is: 'lost', harmless: keepsAll },
  container: refused('A container is kept by its provider; leave the field out.'),
  mcp_servers: {
    is: 'refused',
    why: 'Only Anthropic calls MCP servers itself; leave the field out.',
    harmless: isEmpty,
  },
  // The SDK's tool runner goes on without a thread after an error with these details.
  thread: {
    is: 'refused',
    why: 'A thread is kept by its provider; send all messages.',
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  },
  compaction: refused('Only Anthropic shortens a conversation; leave the field out.'),
};

/** Claude Code always asks to keep all thinking. */
function keepsAll(management: unknown): boolean {
  return listIn(objectIn(management)?.edits).every((edit) => objectIn(edit)?.keep === 'all');
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
