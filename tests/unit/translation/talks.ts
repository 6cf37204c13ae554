import fc from 'fast-check';
import type { JsonObject } from '#lib/core/families/reading/json';
import type { TextProtocol } from '#lib/core/translation/conversation';

/** Random conversations, in the terms of no protocol, and their requests as clients of each protocol write them. */

export interface Talk {
  readonly system: readonly string[];
  readonly turns: readonly Turn[];
  readonly budget: number;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly stop: readonly string[];
  readonly tools: readonly Tool[];
  readonly choice: 'auto' | 'none' | 'required' | 'first' | null;
  readonly oneAtATime: boolean;
  readonly user: string | null;
  /** The answer has to be JSON of a schema. */
  readonly schema: JsonObject | null;
}

interface Tool {
  readonly name: string;
  readonly description: string | null;
  readonly schema: JsonObject;
  readonly strict: boolean;
}

interface Turn {
  /** A word of the operator in the middle of the conversation. */
  readonly aside: string | null;
  readonly asks: readonly Said[];
  readonly answers: readonly string[];
  readonly calls: readonly Call[];
}

type Said = { readonly text: string } | { readonly picture: 'data' | 'url' } | { readonly pdf: string };

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
  readonly result: string;
  readonly fails: boolean;
  /** The result has a picture too. */
  readonly picture: boolean;
}

const png = 'iVBORw0KGgo=';
const pdf = 'JVBERi0=';
const linked = 'https://example.com/a.png';

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const names = ['look', 'find_it', 'a-tool'] as const;
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));
const args: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 6 }).filter((name) => name !== '__proto__'),
  json,
  { maxKeys: 3, noNullPrototype: true },
);
const schemas: fc.Arbitrary<JsonObject> = fc.constantFrom(
  { type: 'object', properties: { x: { type: 'number' } }, required: ['x'], additionalProperties: false },
  {
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: 'string', description: 'One' } },
      of: { enum: ['a', 'b'] },
    },
    required: ['list', 'of'],
    additionalProperties: false,
  },
);
const said: fc.Arbitrary<Said> = fc.oneof(
  { weight: 4, arbitrary: words.map((text) => ({ text })) },
  { weight: 1, arbitrary: fc.constantFrom<Said>({ picture: 'data' }, { picture: 'url' }, { pdf: 'a.pdf' }) },
);
const call = fc.record({
  id: fc.oneof(
    fc.constantFrom('call_0', 'call_1'),
    fc.stringMatching(/^[\w-]{1,20}$/),
    words,
    fc.stringMatching(/^x{60,80}$/),
  ),
  name: fc.constantFrom(...names),
  args,
  result: words,
  fails: fc.boolean(),
  picture: fc.boolean(),
});
const turn = fc.record({
  aside: fc.option(words, { freq: 6 }),
  asks: fc.array(said, { minLength: 1, maxLength: 3 }),
  answers: fc.array(words, { minLength: 1, maxLength: 2 }),
  calls: fc.array(call, { maxLength: 3 }),
});

export const talks: fc.Arbitrary<Talk> = fc
  .record({
    system: fc.array(words, { maxLength: 2 }),
    turns: fc.array(turn, { maxLength: 3 }),
    budget: fc.integer({ min: 16, max: 200_000 }),
    temperature: fc.option(fc.constantFrom(0, 0.5, 1)),
    topP: fc.option(fc.constantFrom(0.1, 1)),
    stop: fc.uniqueArray(words, { maxLength: 2 }),
    tools: fc.tuple(
      ...names.map((name) =>
        fc.record({
          name: fc.constant(name),
          description: fc.option(words),
          schema: schemas,
          strict: fc.boolean(),
        }),
      ),
    ),
    choice: fc.constantFrom<Talk['choice']>('auto', 'none', 'required', 'first', null),
    oneAtATime: fc.boolean(),
    user: fc.option(fc.stringMatching(/^\w{1,20}$/)),
    schema: fc.option(schemas, { freq: 3 }),
  })
  .map((talk) => {
    // Each call of an answer has an id of its own; in every turn, some models begin to count again.
    const turns = talk.turns.map((one) => ({
      ...one,
      calls: one.calls.filter(({ id }, at) => one.calls.findIndex((other) => other.id === id) === at),
    }));
    return { ...talk, turns };
  });

/** The entries that are neither null nor an empty list. */
function given(entries: JsonObject): JsonObject {
  const kept = Object.entries(entries).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(kept);
}

const lastWord = 'Go on.';
const dataUrl = `data:image/png;base64,${png}`;

function asChat(talk: Talk): JsonObject {
  const part = (one: Said): JsonObject => {
    if ('text' in one) return { type: 'text', text: one.text };
    if ('pdf' in one)
      return { type: 'file', file: { filename: one.pdf, file_data: `data:application/pdf;base64,${pdf}` } };
    return { type: 'image_url', image_url: { url: one.picture === 'data' ? dataUrl : linked } };
  };
  const turns = talk.turns.flatMap(({ aside, asks, answers, calls }) => [
    ...(aside === null ? [] : [{ role: 'developer', content: aside }]),
    { role: 'user', content: asks.map(part) },
    {
      role: 'assistant',
      content: answers.map((text) => ({ type: 'text', text })),
      ...given({
        tool_calls: calls.map(({ id, name, args: input }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
        })),
      }),
    },
    ...calls.map(({ id, result, picture }) => ({
      role: 'tool',
      tool_call_id: id,
      content: picture
        ? [
            { type: 'text', text: result },
            { type: 'image_url', image_url: { url: dataUrl } },
          ]
        : result,
    })),
  ]);
  const [first] = talk.tools;
  return given({
    model: 'm',
    max_completion_tokens: talk.budget,
    temperature: talk.temperature,
    top_p: talk.topP,
    stop: talk.stop,
    parallel_tool_calls: talk.oneAtATime ? false : null,
    user: talk.user,
    tools: talk.tools.map(({ name, description, schema, strict }) => ({
      type: 'function',
      function: given({ name, description, parameters: schema, strict }),
    })),
    tool_choice:
      talk.choice === 'first' ? { type: 'function', function: { name: first?.name } } : talk.choice,
    response_format: talk.schema && {
      type: 'json_schema',
      json_schema: { name: 'response', schema: talk.schema, strict: true },
    },
    messages: [
      ...talk.system.map((content) => ({ role: 'system', content })),
      ...turns,
      { role: 'user', content: lastWord },
    ],
  });
}

function asResponses(talk: Talk): JsonObject {
  const part = (one: Said): JsonObject => {
    if ('text' in one) return { type: 'input_text', text: one.text };
    if ('pdf' in one)
      return { type: 'input_file', filename: one.pdf, file_data: `data:application/pdf;base64,${pdf}` };
    return { type: 'input_image', detail: 'auto', image_url: one.picture === 'data' ? dataUrl : linked };
  };
  const turns = talk.turns.flatMap(({ aside, asks, answers, calls }) => [
    ...(aside === null ? [] : [{ type: 'message', role: 'developer', content: aside }]),
    { role: 'user', content: asks.map(part) },
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: answers.map((text) => ({ type: 'output_text', text, annotations: [] })),
    },
    ...calls.map(({ id, name, args: input }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(input),
    })),
    ...calls.map(({ id, result, picture }) => ({
      type: 'function_call_output',
      call_id: id,
      output: picture
        ? [
            { type: 'input_text', text: result },
            { type: 'input_image', image_url: dataUrl },
          ]
        : result,
    })),
  ]);
  const [first] = talk.tools;
  const [instructions = null, ...more] = talk.system;
  return given({
    model: 'm',
    instructions,
    max_output_tokens: talk.budget,
    temperature: talk.temperature,
    top_p: talk.topP,
    parallel_tool_calls: talk.oneAtATime ? false : null,
    user: talk.user,
    store: false,
    tools: talk.tools.map(({ name, description, schema, strict }) =>
      given({ type: 'function', name, description, parameters: schema, strict }),
    ),
    tool_choice: talk.choice === 'first' ? { type: 'function', name: first?.name } : talk.choice,
    text: talk.schema && {
      format: { type: 'json_schema', name: 'response', schema: talk.schema, strict: true },
    },
    input: [
      ...more.map((content) => ({ role: 'system', content })),
      ...turns,
      { role: 'user', content: lastWord },
    ],
  });
}

function asMessages(talk: Talk): JsonObject {
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } };
  const part = (one: Said): JsonObject => {
    if ('text' in one) return { type: 'text', text: one.text };
    if ('picture' in one)
      return one.picture === 'data' ? picture : { type: 'image', source: { type: 'url', url: linked } };
    const source = { type: 'base64', media_type: 'application/pdf', data: pdf };
    return { type: 'document', title: one.pdf, source };
  };
  const turns = talk.turns.flatMap(({ aside, asks, answers, calls }) => [
    ...(aside === null ? [] : [{ role: 'system', content: aside }]),
    { role: 'user', content: asks.map(part) },
    {
      role: 'assistant',
      content: [
        ...answers.map((text) => ({ type: 'text', text })),
        ...calls.map(({ id, name, args: input }) => ({ type: 'tool_use', id, name, input })),
      ],
    },
    ...(calls.length === 0
      ? []
      : [
          {
            role: 'user',
            content: calls.map(({ id, result, fails, picture: shows }) => ({
              type: 'tool_result',
              tool_use_id: id,
              content: shows ? [{ type: 'text', text: result }, picture] : result,
              ...(fails && { is_error: true }),
            })),
          },
        ]),
  ]);
  const [first] = talk.tools;
  const choices = { auto: 'auto', none: 'none', required: 'any', first: 'tool' };
  return given({
    model: 'm',
    max_tokens: talk.budget,
    temperature: talk.temperature,
    top_p: talk.topP,
    stop_sequences: talk.stop,
    metadata: talk.user === null ? null : { user_id: talk.user },
    system: talk.system.map((text) => ({ type: 'text', text })),
    tools: talk.tools.map(({ name, description, schema, strict }) =>
      given({ name, description, input_schema: schema, strict }),
    ),
    tool_choice: talk.choice && {
      type: choices[talk.choice],
      ...(talk.choice === 'first' && { name: first?.name }),
      ...(talk.oneAtATime && talk.choice !== 'none' && { disable_parallel_tool_use: true }),
    },
    output_config: talk.schema && { format: { type: 'json_schema', schema: talk.schema } },
    messages: [...turns, { role: 'user', content: lastWord }],
  });
}

function asContent(talk: Talk): JsonObject {
  const inline = { inlineData: { mimeType: 'image/png', data: png } };
  const part = (one: Said): JsonObject => {
    if ('text' in one) return { text: one.text };
    if ('pdf' in one) return { inlineData: { mimeType: 'application/pdf', data: pdf, displayName: one.pdf } };
    return one.picture === 'data' ? inline : { fileData: { mimeType: 'image/png', fileUri: linked } };
  };
  const turns = talk.turns.flatMap(({ asks, answers, calls }) => [
    { role: 'user', parts: asks.map(part) },
    {
      role: 'model',
      parts: [
        ...answers.map((text) => ({ text })),
        ...calls.map(({ id, name, args: input }) => ({ functionCall: { id, name, args: input } })),
      ],
    },
    ...(calls.length === 0
      ? []
      : [
          {
            role: 'user',
            parts: calls.map(({ id, name, result, fails, picture }) => ({
              functionResponse: {
                id,
                name,
                response: fails ? { error: result } : { output: result },
                ...(picture && { parts: [inline] }),
              },
            })),
          },
        ]),
  ]);
  const [first] = talk.tools;
  const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY', first: 'ANY' };
  return given({
    systemInstruction: talk.system.length === 0 ? null : { parts: talk.system.map((text) => ({ text })) },
    contents: [...turns, { role: 'user', parts: [{ text: lastWord }] }],
    tools: [
      {
        functionDeclarations: talk.tools.map(({ name, description, schema }) =>
          given({ name, description, parametersJsonSchema: schema }),
        ),
      },
    ],
    toolConfig: talk.choice && {
      functionCallingConfig: {
        mode: modes[talk.choice],
        ...(talk.choice === 'first' && { allowedFunctionNames: [first?.name] }),
      },
    },
    generationConfig: given({
      maxOutputTokens: talk.budget,
      temperature: talk.temperature,
      topP: talk.topP,
      stopSequences: talk.stop,
      responseMimeType: talk.schema && 'application/json',
      responseJsonSchema: talk.schema,
    }),
  });
}

export const clientRequests: Readonly<Record<TextProtocol, (talk: Talk) => JsonObject>> = {
  chat: asChat,
  responses: asResponses,
  messages: asMessages,
  'generate-content': asContent,
};
