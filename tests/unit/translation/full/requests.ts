import type { JsonObject } from '#lib/core/families/reading/json';
import type { TextProtocol } from '#lib/core/translation/conversation';

/** A request of each protocol that uses most of the fields that are carried to others. */

export const schema = {
  type: 'object',
  properties: { x: { type: 'number' } },
  required: ['x'],
  additionalProperties: false,
};
export const png = 'iVBORw0KGgo=';
export const pdf = 'JVBERi0=';
/** The same as data URLs. */
export const document = `data:application/pdf;base64,${pdf}`;
export const picture = `data:image/png;base64,${png}`;
/** What a tool of plain text is declared with elsewhere. */
export const plainText = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};
export const linked = 'https://example.com/a.png';

const chat = {
  model: 'm',
  stream: true,
  stream_options: { include_usage: true },
  max_completion_tokens: 5_000,
  temperature: 0.5,
  top_p: 0.9,
  top_k: 5,
  seed: 7,
  frequency_penalty: 0.1,
  presence_penalty: 0.2,
  stop: ['END', 'STOP'],
  parallel_tool_calls: false,
  service_tier: 'priority',
  user: 'u1',
  safety_identifier: 's1',
  metadata: { a: 'b' },
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  prompt_cache_options: { mode: 'explicit' },
  verbosity: 'low',
  reasoning_effort: 'low',
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'city', description: 'A city', schema, strict: true },
  },
  tools: [
    {
      type: 'function',
      function: { name: 'one', description: 'First', parameters: schema, strict: true },
      cache_control: { type: 'ephemeral' },
    },
    { type: 'custom', custom: { name: 'patch', description: 'Patches' } },
  ],
  tool_choice: 'auto',
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look', prompt_cache_breakpoint: { mode: 'explicit' } },
        { type: 'image_url', image_url: { url: picture, detail: 'high' } },
        { type: 'image_url', image_url: { url: linked } },
        { type: 'file', file: { filename: 'a.pdf', file_data: document } },
      ],
    },
    {
      role: 'assistant',
      content: 'I call.',
      reasoning_content: 'Hm',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
        { id: 'b:1', type: 'custom', custom: { name: 'patch', input: '***' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: 'Done' },
    {
      role: 'tool',
      tool_call_id: 'b:1',
      content: [
        { type: 'text', text: 'Seen' },
        { type: 'image_url', image_url: { url: picture } },
      ],
    },
    { role: 'developer', content: 'Be kind.' },
    { role: 'assistant', content: '', reasoning_content: 'A thought' },
    { role: 'user', content: 'And?' },
  ],
};

const responses = {
  model: 'm',
  stream: true,
  store: false,
  include: ['reasoning.encrypted_content'],
  instructions: 'Be brief.',
  max_output_tokens: 5_000,
  temperature: 0.5,
  top_p: 0.9,
  parallel_tool_calls: false,
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  safety_identifier: 's1',
  user: 'u1',
  service_tier: 'priority',
  metadata: { a: 'b' },
  reasoning: { effort: 'low', summary: 'auto' },
  text: {
    format: { type: 'json_schema', name: 'city', description: 'A city', schema, strict: true },
    verbosity: 'low',
  },
  tools: [
    { type: 'function', name: 'one', description: 'First', parameters: schema, strict: true },
    { type: 'custom', name: 'patch', description: 'Patches' },
    {
      type: 'namespace',
      name: 'files',
      description: 'Files',
      tools: [{ type: 'function', name: 'read', parameters: schema }],
    },
  ],
  tool_choice: 'auto',
  input: [
    { type: 'message', role: 'developer', content: 'Be kind.' },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'Look', prompt_cache_breakpoint: { mode: 'explicit' } },
        { type: 'input_image', image_url: picture, detail: 'high' },
        { type: 'input_image', image_url: linked },
        { type: 'input_file', filename: 'a.pdf', file_data: document },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Hm' }],
      encrypted_content: 'gAAA',
    },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I call.' }] },
    { type: 'function_call', call_id: 'a', name: 'one', arguments: '{"x":1}' },
    { type: 'custom_tool_call', call_id: 'b:1', name: 'patch', input: '***' },
    { type: 'function_call_output', call_id: 'a', output: 'Done' },
    {
      type: 'custom_tool_call_output',
      call_id: 'b:1',
      output: [
        { type: 'input_text', text: 'Seen' },
        { type: 'input_image', image_url: picture },
      ],
    },
    { role: 'user', content: 'And?' },
  ],
};

const base64 = { type: 'base64', media_type: 'image/png', data: png };
const messages = {
  model: 'm',
  stream: true,
  max_tokens: 5_000,
  temperature: 0.5,
  top_p: 0.9,
  top_k: 5,
  stop_sequences: ['END'],
  service_tier: 'auto',
  metadata: { user_id: 'u1' },
  thinking: { type: 'enabled', budget_tokens: 2_000 },
  output_config: { format: { type: 'json_schema', schema } },
  system: [
    { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
    { type: 'text', text: 'Be kind.' },
  ],
  tools: [
    { name: 'one', description: 'First', input_schema: schema, strict: true },
    { name: 'two', input_schema: { type: 'object' } },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look', cache_control: { type: 'ephemeral' } },
        { type: 'image', source: base64 },
        { type: 'image', source: { type: 'url', url: linked } },
        {
          type: 'document',
          title: 'a.pdf',
          source: { type: 'base64', media_type: 'application/pdf', data: pdf },
        },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
        { type: 'text', text: 'I call.' },
        { type: 'tool_use', id: 'a', name: 'one', input: { x: 1 } },
        { type: 'tool_use', id: 'b', name: 'two', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'a',
          content: [
            { type: 'text', text: 'Done' },
            { type: 'image', source: base64 },
          ],
        },
        { type: 'tool_result', tool_use_id: 'b', content: 'No', is_error: true },
        { type: 'text', text: 'And?' },
      ],
    },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'A thought', signature: 'c2ln' }] },
    { role: 'user', content: 'Go on' },
  ],
};

const content = {
  systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
  contents: [
    {
      role: 'user',
      parts: [
        { text: 'Look' },
        { inlineData: { mimeType: 'image/png', data: png } },
        { fileData: { mimeType: 'image/png', fileUri: linked } },
        { inlineData: { mimeType: 'application/pdf', data: pdf, displayName: 'a.pdf' } },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'Hm', thought: true, thoughtSignature: 'c2ln' },
        { text: 'I call.' },
        { functionCall: { id: 'a', name: 'one', args: { x: 1 } } },
        { functionCall: { name: 'two', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name: 'one', response: { output: 'Done' } } },
        { functionResponse: { name: 'two', response: { error: 'No' } } },
      ],
    },
    { role: 'model', parts: [{ text: 'A thought', thought: true }] },
    { role: 'user', parts: [{ text: 'And?' }] },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: 'one', description: 'First', parametersJsonSchema: schema },
        {
          name: 'two',
          parameters: { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } },
        },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
  generationConfig: {
    maxOutputTokens: 5_000,
    temperature: 0.5,
    topP: 0.9,
    topK: 5,
    seed: 7,
    presencePenalty: 0.2,
    frequencyPenalty: 0.1,
    stopSequences: ['END'],
    responseMimeType: 'application/json',
    responseSchema: { type: 'OBJECT', properties: { x: { type: 'NUMBER' } } },
    thinkingConfig: { thinkingBudget: 2_000, includeThoughts: true },
  },
};

export const fullRequests: Readonly<Record<TextProtocol, JsonObject>> = {
  chat,
  responses,
  messages,
  'generate-content': content,
};
