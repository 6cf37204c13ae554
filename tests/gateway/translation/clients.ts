import type { TextProtocol } from '#lib/core/translation/conversation';
import { record } from '#tools/sandbox/content/tool-call';

/** What a test asks a model, in the terms of no protocol. */
export interface Wish {
  readonly prompt: string;
  readonly system?: string;
  /** Base64 of a PNG and of a PDF. */
  readonly picture?: string;
  readonly pdf?: string;
  readonly tools?: readonly string[];
  readonly forced?: string;
  /** The answer has to be JSON of this schema. */
  readonly schema?: object;
  readonly stop?: string;
  readonly budget?: number;
  /** The model thinks, and shows it. */
  readonly thinks?: true;
  /** The prompt up to here is kept in the provider's cache. */
  readonly cached?: true;
  /** Calls that an earlier answer made, with their results. */
  readonly done?: readonly { readonly id: string; readonly name: string; readonly result: string }[];
  /** An earlier answer as its client got it, with the results of its calls. */
  readonly after?: { readonly said: Said; readonly result: string };
}

/** What an answer says, in the terms of no protocol. */
export interface Said {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
  readonly reason: unknown;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The answer as the client sends it back. */
  readonly turn: readonly unknown[];
  /** A stream's error, if it has one. */
  readonly error: unknown;
}

/** One protocol as its clients speak it. */
export interface Client {
  readonly protocol: TextProtocol;
  path(model: string, stream: boolean): string;
  body(model: string, stream: boolean, wish: Wish): object;
  read(text: string, stream: boolean): Said;
  /** How it says that the budget was reached. */
  readonly length: string;
}

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const args = { city: 'Kraków' };

function eventsIn(text: string): Record<string, unknown>[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => record(JSON.parse(line.slice(6))));
}

const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.map(record) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const json = (text: unknown): unknown => (textOf(text) === '' ? {} : JSON.parse(textOf(text)));

const chat: Client = {
  protocol: 'chat',
  length: 'length',
  path: () => '/v1/chat/completions',
  body: (model, stream, wish) => ({
    model,
    max_completion_tokens: wish.budget ?? 500,
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    ...(wish.stop ? { stop: wish.stop } : {}),
    ...(wish.thinks ? { reasoning_effort: 'low' } : {}),
    ...(wish.tools
      ? { tools: wish.tools.map((name) => ({ type: 'function', function: { name, parameters } })) }
      : {}),
    ...(wish.forced ? { tool_choice: { type: 'function', function: { name: wish.forced } } } : {}),
    ...(wish.schema
      ? {
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'place', strict: true, schema: wish.schema },
          },
        }
      : {}),
    messages: [
      ...(wish.system ? [{ role: 'system', content: wish.system }] : []),
      {
        role: 'user',
        content: [
          {
            type: 'text',
            text: wish.prompt,
            ...(wish.cached ? { cache_control: { type: 'ephemeral' } } : {}),
          },
          ...(wish.picture
            ? [{ type: 'image_url', image_url: { url: `data:image/png;base64,${wish.picture}` } }]
            : []),
          ...(wish.pdf
            ? [
                {
                  type: 'file',
                  file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${wish.pdf}` },
                },
              ]
            : []),
        ],
      },
      ...(wish.done
        ? [
            {
              role: 'assistant',
              content: null,
              tool_calls: wish.done.map(({ id, name }) => ({
                id,
                type: 'function',
                function: { name, arguments: JSON.stringify(args) },
              })),
            },
            ...wish.done.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
          ]
        : []),
      ...(wish.after
        ? [
            ...wish.after.said.turn,
            ...wish.after.said.calls.map(({ id }) => ({
              role: 'tool',
              tool_call_id: id,
              content: wish.after?.result,
            })),
          ]
        : []),
    ],
  }),
  read: (text, stream) => {
    const objects = stream ? eventsIn(text) : [record(JSON.parse(text))];
    const message = { role: 'assistant', content: '', tool_calls: [] as Record<string, unknown>[] };
    const details: unknown[] = [];
    let reason: unknown = null;
    let usage: Record<string, unknown> = {};
    let error: unknown = null;
    const calls = new Map<unknown, { id: string; name: string; json: string }>();
    for (const object of objects) {
      error ??= object.error ?? null;
      if (object.usage) usage = record(object.usage);
      const [choice] = listOf(object.choices);
      const delta = record(choice?.delta ?? choice?.message);
      reason = choice?.finish_reason ?? reason;
      message.content += textOf(delta.content);
      details.push(...listOf(delta.reasoning_details));
      for (const [index, call] of listOf(delta.tool_calls).entries()) {
        const known = calls.get(call.index ?? index) ?? { id: '', name: '', json: '' };
        calls.set(call.index ?? index, known);
        known.id += textOf(call.id);
        known.name += textOf(record(call.function).name);
        known.json += textOf(record(call.function).arguments);
      }
    }
    message.tool_calls = [...calls.values()].map(({ id, name, json: text }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    }));
    return {
      text: message.content,
      calls: [...calls.values()].map(({ id, name, json: text }) => ({ id, name, args: json(text) })),
      reason,
      inputTokens: Number(usage.prompt_tokens),
      outputTokens: Number(usage.completion_tokens),
      turn: [{ ...message, ...(details.length > 0 ? { reasoning_details: details } : {}) }],
      error,
    };
  },
};

const responses: Client = {
  protocol: 'responses',
  length: 'max_output_tokens',
  path: () => '/v1/responses',
  body: (model, stream, wish) => ({
    model,
    stream,
    max_output_tokens: wish.budget ?? 500,
    store: false,
    ...(wish.system ? { instructions: wish.system } : {}),
    ...(wish.thinks
      ? { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] }
      : {}),
    ...(wish.tools ? { tools: wish.tools.map((name) => ({ type: 'function', name, parameters })) } : {}),
    ...(wish.forced ? { tool_choice: { type: 'function', name: wish.forced } } : {}),
    ...(wish.schema
      ? { text: { format: { type: 'json_schema', name: 'place', strict: true, schema: wish.schema } } }
      : {}),
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: wish.prompt },
          ...(wish.picture
            ? [{ type: 'input_image', image_url: `data:image/png;base64,${wish.picture}` }]
            : []),
          ...(wish.pdf
            ? [
                {
                  type: 'input_file',
                  filename: 'a.pdf',
                  file_data: `data:application/pdf;base64,${wish.pdf}`,
                },
              ]
            : []),
        ],
      },
      ...(wish.done ?? []).map(({ id, name }) => ({
        type: 'function_call',
        call_id: id,
        name,
        arguments: JSON.stringify(args),
      })),
      ...(wish.done ?? []).map(({ id, result }) => ({
        type: 'function_call_output',
        call_id: id,
        output: result,
      })),
      ...(wish.after
        ? [
            ...wish.after.said.turn,
            ...wish.after.said.calls.map(({ id }) => ({
              type: 'function_call_output',
              call_id: id,
              output: wish.after?.result,
            })),
          ]
        : []),
    ],
  }),
  read: (text, stream) => {
    const events = stream ? eventsIn(text) : [];
    const last = events.at(-1);
    const answer = stream ? record(last?.response) : record(JSON.parse(text));
    const output = listOf(answer.output);
    const contents = output
      .filter(({ type }) => type === 'message')
      .flatMap(({ content }) => listOf(content));
    const usage = record(answer.usage);
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    return {
      text: stream
        ? deltas.map(({ delta }) => textOf(delta)).join('')
        : contents.map((one) => textOf(one.text)).join(''),
      calls: output
        .filter(({ type }) => type === 'function_call')
        .map((one) => ({ id: textOf(one.call_id), name: textOf(one.name), args: json(one.arguments) })),
      reason: record(answer.incomplete_details).reason ?? answer.status,
      inputTokens: Number(usage.input_tokens),
      outputTokens: Number(usage.output_tokens),
      turn: output,
      error: events.find(({ type }) => type === 'error') ?? answer.error ?? null,
    };
  },
};

const messages: Client = {
  protocol: 'messages',
  length: 'max_tokens',
  path: () => '/v1/messages',
  body: (model, stream, wish) => ({
    model,
    stream,
    max_tokens: wish.budget ?? 2_000,
    ...(wish.system ? { system: wish.system } : {}),
    ...(wish.stop ? { stop_sequences: [wish.stop] } : {}),
    ...(wish.thinks ? { thinking: { type: 'enabled', budget_tokens: 1_024 } } : {}),
    ...(wish.tools ? { tools: wish.tools.map((name) => ({ name, input_schema: parameters })) } : {}),
    ...(wish.forced ? { tool_choice: { type: 'tool', name: wish.forced } } : {}),
    ...(wish.schema ? { output_config: { format: { type: 'json_schema', schema: wish.schema } } } : {}),
    messages: [
      {
        role: 'user',
        content: [
          {
            type: 'text',
            text: wish.prompt,
            ...(wish.cached ? { cache_control: { type: 'ephemeral' } } : {}),
          },
          ...(wish.picture
            ? [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: wish.picture } }]
            : []),
          ...(wish.pdf
            ? [
                {
                  type: 'document',
                  source: { type: 'base64', media_type: 'application/pdf', data: wish.pdf },
                },
              ]
            : []),
        ],
      },
      ...(wish.done
        ? [
            {
              role: 'assistant',
              content: wish.done.map(({ id, name }) => ({ type: 'tool_use', id, name, input: args })),
            },
            {
              role: 'user',
              content: wish.done.map(({ id, result }) => ({
                type: 'tool_result',
                tool_use_id: id,
                content: result,
              })),
            },
          ]
        : []),
      ...(wish.after
        ? [
            ...wish.after.said.turn,
            {
              role: 'user',
              content: wish.after.said.calls.map(({ id }) => ({
                type: 'tool_result',
                tool_use_id: id,
                content: wish.after?.result,
              })),
            },
          ]
        : []),
    ],
  }),
  read: (text, stream) => {
    const blocks: Record<string, unknown>[] = [];
    const inputs = new Map<number, string>();
    let reason: unknown = null;
    let usage: Record<string, unknown> = {};
    let error: unknown = null;
    if (stream) {
      for (const event of eventsIn(text)) {
        const index = Number(event.index);
        const delta = record(event.delta);
        if (event.type === 'message_start') usage = record(record(event.message).usage);
        if (event.type === 'content_block_start') blocks[index] = { ...record(event.content_block) };
        const block = blocks[index];
        if (block && event.type === 'content_block_delta') {
          if (delta.type === 'text_delta') block.text = textOf(block.text) + textOf(delta.text);
          if (delta.type === 'thinking_delta')
            block.thinking = textOf(block.thinking) + textOf(delta.thinking);
          if (delta.type === 'signature_delta') block.signature = textOf(delta.signature);
          if (delta.type === 'input_json_delta')
            inputs.set(index, (inputs.get(index) ?? '') + textOf(delta.partial_json));
        }
        if (event.type === 'message_delta') {
          reason = delta.stop_reason;
          usage = { ...usage, ...record(event.usage) };
        }
        if (event.type === 'error') error = event.error;
      }
      for (const [index, written] of inputs) Object.assign(blocks[index] ?? {}, { input: json(written) });
    } else {
      const message = record(JSON.parse(text));
      blocks.push(...listOf(message.content));
      reason = message.stop_reason;
      usage = record(message.usage);
      error = message.error ?? null;
    }
    return {
      text: blocks
        .filter(({ type }) => type === 'text')
        .map((one) => textOf(one.text))
        .join(''),
      calls: blocks
        .filter(({ type }) => type === 'tool_use')
        .map((one) => ({ id: textOf(one.id), name: textOf(one.name), args: one.input })),
      reason,
      inputTokens:
        Number(usage.input_tokens) +
        Number(usage.cache_read_input_tokens ?? 0) +
        Number(usage.cache_creation_input_tokens ?? 0),
      outputTokens: Number(usage.output_tokens),
      turn: [{ role: 'assistant', content: blocks }],
      error,
    };
  },
};

const generateContent: Client = {
  protocol: 'generate-content',
  length: 'MAX_TOKENS',
  path: (model, stream) =>
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: (_model, _stream, wish) => ({
    ...(wish.system ? { systemInstruction: { parts: [{ text: wish.system }] } } : {}),
    ...(wish.tools
      ? {
          tools: [
            { functionDeclarations: wish.tools.map((name) => ({ name, parametersJsonSchema: parameters })) },
          ],
        }
      : {}),
    ...(wish.forced
      ? { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [wish.forced] } } }
      : {}),
    generationConfig: {
      maxOutputTokens: wish.budget ?? 500,
      ...(wish.stop ? { stopSequences: [wish.stop] } : {}),
      ...(wish.thinks ? { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } } : {}),
      ...(wish.schema ? { responseMimeType: 'application/json', responseJsonSchema: wish.schema } : {}),
    },
    contents: [
      {
        role: 'user',
        parts: [
          { text: wish.prompt },
          ...(wish.picture ? [{ inlineData: { mimeType: 'image/png', data: wish.picture } }] : []),
          ...(wish.pdf ? [{ inlineData: { mimeType: 'application/pdf', data: wish.pdf } }] : []),
        ],
      },
      ...(wish.done
        ? [
            {
              role: 'model',
              parts: wish.done.map(({ id, name }) => ({ functionCall: { id, name, args } })),
            },
            {
              role: 'user',
              parts: wish.done.map(({ id, name, result }) => ({
                functionResponse: { id, name, response: { result } },
              })),
            },
          ]
        : []),
      ...(wish.after
        ? [
            ...wish.after.said.turn,
            {
              role: 'user',
              parts: wish.after.said.calls.map(({ id, name }) => ({
                functionResponse: { id, name, response: { result: wish.after?.result } },
              })),
            },
          ]
        : []),
    ],
  }),
  read: (text, stream) => {
    const objects = stream ? eventsIn(text) : [record(JSON.parse(text))];
    const parts = objects.flatMap((object) =>
      listOf(record(record(listOf(object.candidates)[0]).content).parts),
    );
    const reasons = objects.map((object) => record(listOf(object.candidates)[0]).finishReason);
    const usage = record(objects.findLast((object) => object.usageMetadata)?.usageMetadata);
    return {
      text: parts
        .filter(({ thought }) => thought !== true)
        .map((part) => textOf(part.text))
        .join(''),
      calls: parts.flatMap((part) => {
        const call = record(part.functionCall);
        return part.functionCall ? [{ id: textOf(call.id), name: textOf(call.name), args: call.args }] : [];
      }),
      reason: reasons.findLast((one) => one !== undefined),
      inputTokens: Number(usage.promptTokenCount),
      outputTokens: Number(usage.candidatesTokenCount ?? 0) + Number(usage.thoughtsTokenCount ?? 0),
      turn: [{ role: 'model', parts }],
      error: objects.find((object) => object.error)?.error ?? null,
    };
  },
};

export const clients: readonly Client[] = [chat, responses, messages, generateContent];
