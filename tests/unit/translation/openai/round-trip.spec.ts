import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type JsonObject, objectIn } from '#lib/core/families/reading/json';
import { read as readChat } from '#lib/core/translation/chat/read';
import {
  type Conversation,
  isUnreadable,
  type ProtocolTranslation,
  type TextProtocol,
} from '#lib/core/translation/conversation';
import { read as readContent } from '#lib/core/translation/generate-content/read';
import { read as readMessages } from '#lib/core/translation/messages/read';
import { read as readResponses } from '#lib/core/translation/responses/read';
import { writtenBy } from '#tests/unit/translation/openai/bodies';

/** Random conversations, read, written by the package of another protocol and read again, say the same. */

const readers: Readonly<Record<TextProtocol, ProtocolTranslation['read']>> = {
  chat: readChat,
  responses: readResponses,
  messages: readMessages,
  'generate-content': readContent,
};

interface Turn {
  readonly said: string;
  readonly picture: boolean;
  readonly answer: string;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly args: string;
    readonly result: string;
  }[];
}

const words = fc.string({ minLength: 1, maxLength: 12 }).map((text) => `w${text}w`);
const args = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(fc.integer(), fc.boolean(), words));
const turn: fc.Arbitrary<Omit<Turn, 'calls'> & { drawn: [string, object, string][] }> = fc.record({
  said: words,
  picture: fc.boolean(),
  answer: fc.oneof(fc.constant(''), words),
  drawn: fc.array(fc.tuple(fc.constantFrom('one', 'two'), args, words), { maxLength: 3 }),
});
const turns: fc.Arbitrary<Turn[]> = fc.array(turn, { minLength: 1, maxLength: 4 }).map((drawn) =>
  drawn.map(({ drawn: calls, ...rest }, at) => ({
    ...rest,
    calls: calls.map(([name, input, result], index) => ({
      id: `call_${at}_${index}`,
      name,
      args: JSON.stringify(input),
      result,
    })),
  })),
);

const url = 'data:image/png;base64,iVBORw0KGgo=';
const parameters = { type: 'object', properties: {} };

function asChat(conversation: readonly Turn[]): JsonObject {
  const messages = conversation.flatMap(({ said, picture, answer, calls }) => [
    {
      role: 'user',
      content: [
        { type: 'text', text: said },
        ...(picture ? [{ type: 'image_url', image_url: { url } }] : []),
      ],
    },
    {
      role: 'assistant',
      content: answer,
      tool_calls: calls.map(({ id, name, args: json }) => ({
        id,
        type: 'function',
        function: { name, arguments: json },
      })),
    },
    ...calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
  ]);
  const tools = ['one', 'two'].map((name) => ({ type: 'function', function: { name, parameters } }));
  return { max_completion_tokens: 99, tools, messages: [{ role: 'system', content: 'rules' }, ...messages] };
}

function asResponses(conversation: readonly Turn[]): JsonObject {
  const input = conversation.flatMap(({ said, picture, answer, calls }) => [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: said },
        ...(picture ? [{ type: 'input_image', image_url: url }] : []),
      ],
    },
    ...(answer === '' ? [] : [{ role: 'assistant', content: answer }]),
    ...calls.map(({ id, name, args: json }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: json,
    })),
    ...calls.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
  ]);
  const tools = ['one', 'two'].map((name) => ({ type: 'function', name, parameters, strict: false }));
  return { max_output_tokens: 99, tools, instructions: 'rules', input };
}

/** What a prompt says, in order, without the borders of messages. */
function told({ prompt }: Conversation): unknown[] {
  return prompt.flatMap(({ role, content }): unknown[] => {
    if (typeof content === 'string') return [[role, content]];
    return content.map((part) => {
      if (part.type === 'text') return [role, part.text];
      if (part.type === 'file') return [role, part.mediaType, part.data];
      if (part.type === 'tool-call') return [part.toolName, part.toolCallId, part.input];
      return part.type === 'tool-result' ? [part.toolName, part.toolCallId, resultIn(part.output)] : part;
    });
  });
}

/** Google's package puts the text of a result into an object with the name of the tool. */
function resultIn(output: LanguageModelV4ToolResultOutput): unknown {
  if (output.type === 'text') return output.value;
  return output.type === 'json' ? objectIn(output.value)?.content : output;
}

function conversationOf(protocol: TextProtocol, body: JsonObject): Conversation {
  const request = readers[protocol](body);
  if (isUnreadable(request)) throw new Error(`${request.field}: ${request.message}`);
  return request.conversation;
}

test.each([
  ['chat', 'responses', asChat],
  ['chat', 'messages', asChat],
  ['chat', 'generate-content', asChat],
  ['responses', 'chat', asResponses],
  ['responses', 'messages', asResponses],
  ['responses', 'generate-content', asResponses],
] as const)('A conversation of %s that is written for %s says the same there.', async (from, to, bodyOf) => {
  const property = fc.asyncProperty(turns, async (conversation) => {
    const body = bodyOf(conversation);
    const written = await writtenBy(to, readers[from](body));
    const [before, after] = [conversationOf(from, body), conversationOf(to, written)];
    expect(told(after)).toEqual(told(before));
    expect(after.maxOutputTokens).toBe(99);
    expect(after.tools?.map(({ name }) => name)).toEqual(['one', 'two']);
  });
  await fc.assert(property, { numRuns: 40 });
});
