import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fields as chatFields } from '#lib/core/translation/chat/fields';
import { findLosses } from '#lib/core/translation/fates';
import { fields as responsesFields } from '#lib/core/translation/responses/fields';

const chatTypes = typesOf('chat/completions/completions.d.ts');
const responsesTypes = typesOf('responses/responses.d.ts');

/** The official client's types are the published schema. */
function typesOf(file: string): string {
  const url = new URL(`../../../../node_modules/openai/resources/${file}`, import.meta.url);
  return readFileSync(url, 'utf8').replace(/\/\*\*.*?\*\//gs, '');
}

/** The fields of an interface, without those of objects inside it. */
function fieldsOf(types: string, name: string): string[] {
  const [, body = ''] = types.split(new RegExp(`export interface ${name} (?:extends \\w+ )?\\{`));
  const own = body.slice(0, body.indexOf('\n}'));
  return [...own.matchAll(/^ {4}(\w+)\??:/gm)].flatMap(([, field]) => field ?? []);
}

describe('the tables of fields', () => {
  test.each([
    ['ChatCompletionCreateParamsBase', '', 20],
    ['ChatCompletionUserMessageParam', 'messages[].', 2],
    ['ChatCompletionAssistantMessageParam', 'messages[].', 5],
    ['ChatCompletionToolMessageParam', 'messages[].', 3],
    ['ChatCompletionContentPartText', 'messages[].content[].', 2],
    ['ChatCompletionContentPartImage', 'messages[].content[].', 2],
    ['ChatCompletionContentPartInputAudio', 'messages[].content[].', 2],
    ['ChatCompletionFunctionTool', 'tools[].', 2],
    ['ChatCompletionCustomTool', 'tools[].', 2],
  ])('Every field of %s has a fate in the table of chat.', (name, prefix, least) => {
    const names = fieldsOf(chatTypes, name);
    expect(names.length).toBeGreaterThanOrEqual(least);
    expect(names.map((field) => prefix + field).filter((path) => !(path in chatFields))).toEqual([]);
  });

  test.each([
    ['ResponseCreateParamsBase', '', 30],
    ['EasyInputMessage', 'input[].', 3],
    ['ResponseOutputMessage', 'input[].', 5],
    ['ResponseReasoningItem', 'input[].', 4],
    ['ResponseFunctionToolCall', 'input[].', 5],
    ['ResponseCustomToolCall', 'input[].', 5],
    ['ResponseCustomToolCallOutput', 'input[].', 3],
    ['ResponseInputText', 'input[].content[].', 2],
    ['ResponseInputImage', 'input[].content[].', 3],
    ['ResponseInputFile', 'input[].content[].', 4],
    ['ResponseOutputText', 'input[].content[].', 3],
    ['FunctionTool', 'tools[].', 5],
    ['CustomTool', 'tools[].', 4],
    ['NamespaceTool', 'tools[].', 4],
    ['WebSearchTool', 'tools[].', 2],
  ])('Every field of %s has a fate in the table of responses.', (name, prefix, least) => {
    const names = fieldsOf(responsesTypes, name);
    expect(names.length).toBeGreaterThanOrEqual(least);
    expect(names.map((field) => prefix + field).filter((path) => !(path in responsesFields))).toEqual([]);
  });

  test('What a chat request loses depends on the target.', () => {
    const body = {
      model: 'm',
      messages: [
        {
          role: 'user',
          name: 'ann',
          content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }],
        },
      ],
      stop: ['END'],
      seed: 7,
      top_k: 4,
      frequency_penalty: 0,
      verbosity: 'low',
      unheard_of: { x: 1 },
    };
    const lost = (target: 'responses' | 'messages' | 'generate-content') =>
      findLosses(body, chatFields, target);
    expect(lost('responses')).toEqual({
      lost: ['messages[].name', 'messages[].content[].cache_control', 'stop', 'seed', 'top_k', 'unheard_of'],
      refused: null,
    });
    expect(lost('messages').lost).toEqual(['messages[].name', 'seed', 'verbosity', 'unheard_of']);
    expect(lost('generate-content').lost).toEqual([
      'messages[].name',
      'messages[].content[].cache_control',
      'verbosity',
      'unheard_of',
    ]);
  });

  test('A request of Codex loses little, and only what cannot be carried is refused.', () => {
    const body = {
      model: 'm',
      instructions: 'rules',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
        { type: 'reasoning', id: 'rs', summary: [], content: null, encrypted_content: 'mgt1_x' },
        {
          type: 'function_call',
          id: 'fc',
          call_id: 'a',
          name: 'shell',
          arguments: '{}',
          status: 'completed',
        },
        { type: 'function_call_output', call_id: 'a', output: 'ok' },
      ],
      tools: [{ type: 'function', name: 'shell', parameters: { type: 'object' }, strict: false }],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: { effort: 'medium', summary: 'auto' },
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'k',
      text: { verbosity: 'medium' },
    };
    expect(findLosses(body, responsesFields, 'messages')).toEqual({
      lost: ['prompt_cache_key'],
      refused: null,
    });
    expect(findLosses(body, responsesFields, 'chat')).toEqual({ lost: [], refused: null });
    const search = { ...body, tools: [{ type: 'web_search' }] };
    expect(findLosses(search, responsesFields, 'messages').refused).toBeNull();
    expect(findLosses(search, responsesFields, 'chat').refused?.field).toBe('tools[0].type');
  });

  test.each([
    ['n', 2, 1],
    ['logprobs', true, false],
    ['store', true, false],
    ['modalities', ['text', 'audio'], ['text']],
    ['audio', { voice: 'a', format: 'mp3' }, null],
    ['functions', [{ name: 'a' }], null],
  ])('In chat, "%s" is refused where leaving it out would change the meaning.', (name, refused, harmless) => {
    const refusal = findLosses({ [name]: refused }, chatFields, 'messages').refused;
    expect(refusal).toMatchObject({ field: name, message: expect.stringContaining(`"${name}"`) });
    expect(findLosses({ [name]: harmless }, chatFields, 'messages')).toEqual({ lost: [], refused: null });
  });

  test.each([
    ['previous_response_id', 'resp_1', null],
    ['conversation', { id: 'conv_1' }, null],
    ['background', true, false],
    ['prompt', { id: 'pmpt_1' }, null],
    ['top_logprobs', 3, 0],
    ['include', ['message.output_text.logprobs'], ['reasoning.encrypted_content']],
  ])(
    'In responses, "%s" is refused where leaving it out would change the meaning.',
    (name, refused, harmless) => {
      const refusal = findLosses({ [name]: refused }, responsesFields, 'messages').refused;
      expect(refusal).toMatchObject({ field: name, message: expect.stringContaining(`"${name}"`) });
      expect(findLosses({ [name]: harmless }, responsesFields, 'messages')).toEqual({
        lost: [],
        refused: null,
      });
    },
  );

  test('Items and files that only their provider reads are refused where they are.', () => {
    const refusedAt = (item: object) =>
      findLosses({ input: [item] }, responsesFields, 'messages').refused?.field;
    expect(refusedAt({ type: 'item_reference', id: 'msg_1' })).toBe('input[0].type');
    expect(refusedAt({ type: 'compaction', encrypted_content: 'x' })).toBe('input[0].type');
    expect(refusedAt({ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] })).toBe(
      'input[0].content[0].file_id',
    );
  });
});
