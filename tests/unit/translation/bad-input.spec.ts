import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#lib/core/families/reading/json';
import { fields as chatFields } from '#lib/core/translation/chat/fields';
import { read as readChat } from '#lib/core/translation/chat/read';
import { isUnreadable } from '#lib/core/translation/conversation';
import { findLosses } from '#lib/core/translation/fates';
import { fields as contentFields } from '#lib/core/translation/generate-content/fields';
import { read as readContent } from '#lib/core/translation/generate-content/read';
import { fields as messagesFields } from '#lib/core/translation/messages/fields';
import { read as readMessages } from '#lib/core/translation/messages/read';
import { fields as responsesFields } from '#lib/core/translation/responses/fields';
import { read as readResponses } from '#lib/core/translation/responses/read';
import { chatBody, responsesBody } from '#tests/unit/translation/openai/bodies';

const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };
const messagesBody: JsonObject = {
  model: 'm',
  max_tokens: 99,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Look.' }, picture] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hmm.', signature: 'S' },
        { type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'x' }, picture] }],
    },
  ],
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
  tool_choice: { type: 'tool', name: 'look' },
  thinking: { type: 'enabled', budget_tokens: 2_000 },
  output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } },
  metadata: { user_id: 'u' },
  stop_sequences: ['X'],
};
const contentBody: JsonObject = {
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'Look.' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }] },
    {
      role: 'model',
      parts: [{ text: 'Hmm.', thought: true }, { functionCall: { id: 'a', name: 'look', args: {} } }],
    },
    { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'look', response: { output: 'x' } } }] },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: 'look', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
  generationConfig: {
    maxOutputTokens: 99,
    thinkingConfig: { thinkingBudget: 2_000 },
    responseSchema: { type: 'OBJECT' },
  },
};

/** The body with the value at one of its places replaced; `draw` chooses among the places. */
function replaced(value: unknown, draw: number, by: unknown): unknown {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const at = draw % (entries.length + 1);
  const chosen = entries[at];
  if (!chosen) return by;
  const changed = replaced(chosen[1], Math.floor(draw / (entries.length + 1)), by);
  if (Array.isArray(value)) return value.map((one, index) => (String(index) === chosen[0] ? changed : one));
  return Object.fromEntries(entries.map(([name, one]) => [name, name === chosen[0] ? changed : one]));
}

const wrongValues = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    '',
    'text',
    'thinking',
    'tool_use',
    'tool_result',
    'image',
    'user',
    'model',
    'tool',
    'function_call',
    'reasoning',
    'data:,',
    -1,
    0,
    1e300,
  ),
);

describe.each([
  { protocol: 'chat', body: chatBody, read: readChat, fields: chatFields },
  { protocol: 'responses', body: responsesBody, read: readResponses, fields: responsesFields },
  { protocol: 'messages', body: messagesBody, read: readMessages, fields: messagesFields },
  { protocol: 'generate-content', body: contentBody, read: readContent, fields: contentFields },
])('a request of $protocol', ({ body, read, fields }) => {
  it('is read as it is', () => {
    expect(read(body)).toHaveProperty('conversation');
    expect(findLosses(body, fields, 'chat').refused).toBeNull();
  });

  it('is read, or refused with the field and what to send, whatever value is wrong', () => {
    fc.assert(
      fc.property(fc.nat(), wrongValues, (draw, value) => {
        const wrong = Object.fromEntries(Object.entries(replaced(body, draw, value) ?? {}));
        const request = read(wrong);
        if (isUnreadable(request)) {
          expect(request.field).not.toBe('');
          expect(request.message).toContain(request.field);
        } else {
          expect(request.conversation.prompt.every(({ content }) => content.length > 0)).toBe(true);
        }
        findLosses(wrong, fields, 'responses');
      }),
      { numRuns: 2_000 },
    );
  });

  it('is refused if it is nested too deeply to be read', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 200_000; level++) deep = [deep];
    for (const draw of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      expect(() => read(Object.fromEntries(Object.entries(replaced(body, draw, deep) ?? {})))).not.toThrow();
    }
  });
});
