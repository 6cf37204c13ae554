import { describe, expect, test } from 'vitest';
import { read as readChat } from '#lib/core/translation/chat/read';
import type { TextProtocol } from '#lib/core/translation/conversation';
import { read as readResponses } from '#lib/core/translation/responses/read';
import {
  chatBody,
  pdf,
  picture,
  responsesBody,
  schema,
  writtenBy,
} from '#tests/unit/translation/openai/bodies';

/** What the providers' packages write of a request that was read: they must accept all that the readers make. */

/** What must arrive at a provider of each protocol, from either body. */
const wanted: Readonly<Record<TextProtocol, object>> = {
  chat: {
    max_tokens: 77,
    temperature: 0.5,
    parallel_tool_calls: false,
    tool_choice: { type: 'function', function: { name: 'one' } },
    response_format: { type: 'json_schema', json_schema: { schema, strict: true, name: 'city' } },
    messages: [
      { role: 'system', content: 'be brief' },
      {
        role: 'user',
        content: [{ text: 'look' }, { image_url: { url: picture } }, { file: { file_data: pdf } }],
      },
      {
        role: 'assistant',
        content: 'I call.',
        tool_calls: [
          { id: 'a', function: { name: 'one', arguments: '{"x":1}' } },
          { id: 'b', function: { name: 'patch', arguments: '{"input":"***"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'done' },
      { role: 'tool', tool_call_id: 'b', content: 'seen' },
      { role: 'user', content: 'and?' },
    ],
  },
  responses: {
    max_output_tokens: 77,
    temperature: 0.5,
    parallel_tool_calls: false,
    service_tier: 'priority',
    user: 'u1',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    tool_choice: { type: 'function', name: 'one' },
    text: { format: { type: 'json_schema', name: 'city', schema, strict: true } },
    tools: [{ name: 'one', strict: true }, { name: 'patch' }],
    input: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: [{ text: 'look' }, { image_url: picture }, { file_data: pdf }] },
      { role: 'assistant' },
      { type: 'function_call', call_id: 'a', name: 'one', arguments: '{"x":1}' },
      { type: 'function_call', call_id: 'b', name: 'patch', arguments: '{"input":"***"}' },
      { type: 'function_call_output', call_id: 'a', output: 'done' },
      { type: 'function_call_output', call_id: 'b', output: 'seen' },
      { role: 'user' },
    ],
  },
  messages: {
    max_tokens: 77,
    tool_choice: { type: 'tool', name: 'one', disable_parallel_tool_use: true },
    system: [{ text: 'be brief' }],
    messages: [
      { role: 'user', content: [{ text: 'look' }, { type: 'image' }, { type: 'document' }] },
      {
        role: 'assistant',
        content: [
          { text: 'I call.' },
          { type: 'tool_use', id: 'a', name: 'one', input: { x: 1 } },
          { type: 'tool_use', id: 'b', name: 'patch', input: { input: '***' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'done' },
          { type: 'tool_result', tool_use_id: 'b', content: 'seen' },
          { type: 'text', text: 'and?' },
        ],
      },
    ],
  },
  'generate-content': {
    systemInstruction: { parts: [{ text: 'be brief' }] },
    generationConfig: { maxOutputTokens: 77, temperature: 0.5 },
    toolConfig: { functionCallingConfig: { allowedFunctionNames: ['one'] } },
    contents: [
      { role: 'user', parts: [{ text: 'look' }, { inlineData: {} }, { inlineData: {} }] },
      {
        role: 'model',
        parts: [{ text: 'I call.' }, { functionCall: { name: 'one' } }, { functionCall: { name: 'patch' } }],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'one' } }, { functionResponse: { name: 'patch' } }],
      },
      { role: 'user', parts: [{ text: 'and?' }] },
    ],
  },
};

describe('what the packages write of a chat request', () => {
  test.each(['responses', 'messages', 'generate-content'] as const)(
    'For %s, everything that is carried arrives.',
    async (target) => {
      expect(await writtenBy(target, readChat(chatBody))).toMatchObject(wanted[target]);
    },
  );
});

describe('what the packages write of a request for a response', () => {
  test.each(['chat', 'messages', 'generate-content'] as const)(
    'For %s, everything that is carried arrives.',
    async (target) => {
      expect(await writtenBy(target, readResponses(responsesBody))).toMatchObject(wanted[target]);
    },
  );
});
