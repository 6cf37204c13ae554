import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type JsonObject, objectIn } from '#lib/core/families/reading/json';
import { bindThinking } from '#lib/core/translation/bind-thinking';
import {
  isUnreadable,
  type ReadRequest,
  type TextProtocol,
  type Unreadable,
} from '#lib/core/translation/conversation';

const targets: Readonly<Record<TextProtocol, (fetch: typeof globalThis.fetch) => LanguageModelV4>> = {
  chat: (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('gpt-4.1'),
  responses: (fetch) => createOpenAI({ apiKey: 'k', fetch }).responses('gpt-4.1'),
  messages: (fetch) => createAnthropic({ apiKey: 'k', fetch })('claude-sonnet-4-5'),
  'generate-content': (fetch) => createGoogleGenerativeAI({ apiKey: 'k', fetch })('gemini-2.5-flash'),
};

/** What the package of a protocol sends to its provider. */
export async function writtenBy(
  target: TextProtocol,
  request: ReadRequest | Unreadable,
): Promise<JsonObject> {
  if (isUnreadable(request)) throw new Error(request.message);
  let sent: unknown;
  const model = targets[target](async (_url, init) => {
    sent = JSON.parse(String(init?.body));
    throw new Error('sent');
  });
  await Promise.resolve(model.doGenerate(bindThinking(request.conversation, 'nobody'))).catch(
    (error: unknown) => {
      if (sent === undefined) throw error;
    },
  );
  return objectIn(sent) ?? {};
}

/** Requests that use most of what OpenAI's two protocols have in common with the others. */

export const schema = {
  type: 'object',
  properties: { x: { type: 'number' } },
  required: ['x'],
  additionalProperties: false,
};
export const picture = 'data:image/png;base64,iVBORw0KGgo=';
export const pdf = 'data:application/pdf;base64,JVBERi0=';

export const chatBody = {
  model: 'm',
  max_completion_tokens: 77,
  temperature: 0.5,
  top_p: 0.9,
  stop: ['END'],
  parallel_tool_calls: false,
  service_tier: 'priority',
  user: 'u1',
  metadata: { a: 'b' },
  prompt_cache_key: 'k',
  response_format: { type: 'json_schema', json_schema: { name: 'city', schema, strict: true } },
  tools: [
    { type: 'function', function: { name: 'one', description: 'd', parameters: schema, strict: true } },
    { type: 'custom', custom: { name: 'patch', description: 'patches' } },
  ],
  tool_choice: { type: 'function', function: { name: 'one' } },
  messages: [
    { role: 'system', content: 'be brief' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look', cache_control: { type: 'ephemeral' } },
        { type: 'image_url', image_url: { url: picture } },
        { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
      ],
    },
    {
      role: 'assistant',
      content: 'I call.',
      reasoning_content: 'hm',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
        { id: 'b', type: 'custom', custom: { name: 'patch', input: '***' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: 'done' },
    { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'seen' }] },
    { role: 'user', content: 'and?' },
  ],
};

export const responsesBody = {
  model: 'm',
  instructions: 'be brief',
  max_output_tokens: 77,
  temperature: 0.5,
  parallel_tool_calls: false,
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'k',
  service_tier: 'priority',
  text: { format: { type: 'json_schema', name: 'city', schema, strict: true }, verbosity: 'low' },
  tools: [
    { type: 'function', name: 'one', description: 'd', parameters: schema, strict: true },
    { type: 'custom', name: 'patch', description: 'patches' },
    {
      type: 'namespace',
      name: 'files',
      description: 'f',
      tools: [{ type: 'function', name: 'read', parameters: schema }],
    },
  ],
  tool_choice: { type: 'function', name: 'one' },
  input: [
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'look' },
        { type: 'input_image', image_url: picture },
        { type: 'input_file', filename: 'a.pdf', file_data: pdf },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'hm' }],
      encrypted_content: 'gAAA',
    },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I call.' }] },
    { type: 'function_call', call_id: 'a', name: 'one', arguments: '{"x":1}' },
    { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: '***' },
    { type: 'function_call_output', call_id: 'a', output: 'done' },
    { type: 'custom_tool_call_output', call_id: 'b', output: 'seen' },
    { role: 'user', content: 'and?' },
  ],
};
