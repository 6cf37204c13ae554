import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Conversation, isUnreadable, type TextProtocol } from '#lib/core/translation/conversation';
import { translations } from '#lib/core/translation/index';
import { type Typed, typeErrors } from '#tests/unit/translation/sdk-types';
import { sendAs } from '#tests/unit/translation/sent';
import { clientRequests, type Talk, talks } from '#tests/unit/translation/talks';

const protocols = ['chat', 'responses', 'messages', 'generate-content'] as const;
const directions = protocols.flatMap((from) =>
  protocols.filter((to) => to !== from).map((to) => ({ from, to })),
);

/** Models that take all that a talk has. */
const names: Readonly<Record<TextProtocol, string>> = {
  chat: 'any',
  responses: 'gpt-4.1',
  messages: 'claude-haiku-4-5',
  'generate-content': 'gemini-3-flash-preview',
};

function conversationOf(protocol: TextProtocol, body: object): Conversation {
  const request = translations[protocol].read(JSON.parse(JSON.stringify(body)));
  if (isUnreadable(request)) throw new Error(`${protocol}: ${request.field}: ${request.message}`);
  return request.conversation;
}

type Told = readonly unknown[];

/** What a prompt says, in order, without the borders of messages; calls are numbered instead of their ids. */
function toldIn(prompt: LanguageModelV4Prompt): Told[] {
  const ids: string[] = [];
  const numberOf = (id: string) => (ids.includes(id) ? ids.indexOf(id) : ids.push(id) - 1);
  return prompt.flatMap(({ role, content }): Told[] => {
    if (typeof content === 'string') return [[role, content]];
    return content.flatMap((part): Told[] => {
      switch (part.type) {
        case 'text':
          return [[role, part.text]];
        case 'file':
          // Only Google's protocol says which kind of picture is at an address.
          return [
            [
              role,
              part.mediaType.replace(part.data.type === 'url' ? /\/.*/ : '', ''),
              part.data,
              part.filename,
            ],
          ];
        case 'tool-call':
          return [['call', numberOf(part.toolCallId), part.toolName, part.input]];
        case 'tool-result':
          return [['result', numberOf(part.toolCallId), part.toolName, part.output]];
        default:
          return [[part.type]];
      }
    });
  });
}

/** The text of a result, its pictures, and whether it is an error. */
function resultIn(output: LanguageModelV4ToolResultOutput) {
  if (output.type !== 'content') {
    const value = 'value' in output ? output.value : '';
    return {
      text: typeof value === 'string' ? value : JSON.stringify(value),
      files: [],
      error: /error/.test(output.type),
    };
  }
  const text = output.value.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('\n');
  return { text, files: output.value.filter(({ type }) => type === 'file'), error: false };
}

/** What a target cannot say as it was said (contract: translation/losses). */
function asToldTo(to: TextProtocol, told: readonly Told[]): Told[] {
  const late = told.findIndex(([role]) => role !== 'system');
  const changed: Told[] = [];
  let files: Told[] = [];
  for (const [at, entry] of told.entries()) {
    const [kind, ...rest] = entry;
    if (kind !== 'result') changed.push(...files.splice(0));
    const oneSystem = to === 'messages' || to === 'generate-content';
    if (kind === 'system' && oneSystem && at > late) changed.push(['user', ...rest]);
    else if (kind === 'user' && rest.length > 1 && to === 'generate-content') {
      changed.push([kind, rest[0], rest[1], undefined]);
    } else if (kind === 'result') {
      const { text, files: shown, error } = resultIn(rest[2] as LanguageModelV4ToolResultOutput);
      const inResult = to === 'responses' || to === 'messages';
      if (!inResult) files.push(...toldIn([{ role: 'user', content: shown as never }]));
      const said = error && to === 'responses' ? JSON.stringify({ error: text }) : text;
      const kept = error && (to === 'messages' || to === 'generate-content');
      changed.push([kind, rest[0], rest[1], said, inResult ? shown.length : 0, kept]);
    } else changed.push(entry);
  }
  files = [...files];
  return joined([...changed, ...files]);
}

/** Texts of one answer are one text: chat has no parts in it. */
function joined(told: readonly Told[]): Told[] {
  const out: Told[] = [];
  for (const entry of told) {
    const last = out.at(-1);
    if (entry[0] === 'assistant' && last?.[0] === 'assistant')
      out[out.length - 1] = ['assistant', `${last[1]}${entry[1]}`];
    else out.push(entry);
  }
  return out;
}

/** What a request asks for besides its prompt. */
function settingsOf({ tools = [], toolChoice, responseFormat, providerOptions, ...rest }: Conversation) {
  const { openai, anthropic } = providerOptions ?? {};
  const choice = toolChoice ?? { type: 'auto' };
  const metadata = anthropic?.metadata as { readonly userId?: string } | undefined;
  return {
    budget: rest.maxOutputTokens,
    temperature: rest.temperature,
    topP: rest.topP,
    stop: rest.stopSequences,
    tools: tools.map((tool) =>
      tool.type === 'function'
        ? [tool.name, tool.description || null, tool.inputSchema, tool.strict === true]
        : tool.name,
    ),
    choice,
    schema: responseFormat?.type === 'json' ? responseFormat.schema : undefined,
    oneAtATime:
      choice.type !== 'none' &&
      (openai?.parallelToolCalls === false || anthropic?.disableParallelToolUse === true),
    user: openai?.user ?? metadata?.userId,
  };
}

type Settings = ReturnType<typeof settingsOf>;
/** Settings that are lost. */
interface Change {
  readonly stop?: undefined;
  readonly topP?: undefined;
  readonly user?: undefined;
  readonly oneAtATime?: false;
}

/** A forced tool keeps Google's package from sending a schema: it declares one more tool for it. */
function withoutJsonTool(settings: Settings): Settings {
  const last = settings.tools.at(-1);
  if (!Array.isArray(last) || last[0] !== 'json') return settings;
  return { ...settings, tools: settings.tools.slice(0, -1), schema: last[2] as Settings['schema'] };
}

/** The settings as they arrive, and the fields that must be named as lost (contract: translation/losses). */
function settingsFor(
  from: TextProtocol,
  to: TextProtocol,
  talk: Talk,
  settings: Settings,
): { readonly arrive: Settings; readonly lost: readonly string[] } {
  const lost: (string | undefined)[] = [];
  let arrive = settings;
  const lose = (change: Change, fields: Partial<Record<TextProtocol, string>>) => {
    arrive = { ...arrive, ...change };
    lost.push(fields[from]);
  };
  if (to === 'responses' && talk.stop.length > 0) {
    lose(
      { stop: undefined },
      { chat: 'stop', messages: 'stop_sequences', 'generate-content': 'generationConfig.stopSequences' },
    );
  }
  // The package gives one of the two to Anthropic's models.
  if (to === 'messages' && talk.temperature !== null && talk.topP !== null) {
    lose(
      { topP: undefined },
      { chat: 'top_p', responses: 'top_p', 'generate-content': 'generationConfig.topP' },
    );
  }
  if ((to === 'messages' || to === 'generate-content') && talk.schema) {
    lose({}, { chat: 'response_format.json_schema.name', responses: 'text.format.name' });
  }
  if (to === 'generate-content') {
    const tools = arrive.tools.map((tool) => (Array.isArray(tool) ? [...tool.slice(0, 3), false] : tool));
    arrive = { ...arrive, tools };
    if (talk.user !== null) {
      lose({ user: undefined }, { chat: 'user', responses: 'user', messages: 'metadata.user_id' });
    }
    if (talk.oneAtATime) {
      const ofChoice = talk.choice !== null && talk.choice !== 'none';
      lose(
        { oneAtATime: false },
        {
          chat: 'parallel_tool_calls',
          responses: 'parallel_tool_calls',
          ...(ofChoice && { messages: 'tool_choice.disable_parallel_tool_use' }),
        },
      );
    }
    if (talk.turns.some(({ asks }) => asks.some((one) => 'pdf' in one))) {
      lose({}, { chat: 'messages[].content[].file.filename', responses: 'input[].content[].filename' });
    }
  }
  if (to === 'chat' && talk.turns.some(({ calls }) => calls.some(({ fails }) => fails))) {
    lose({}, { messages: 'messages[].content[].is_error' });
  }
  return { arrive, lost: lost.filter((name) => name !== undefined).sort() };
}

const bodies: Typed[] = [];
let runs = 0;

describe.each(directions)('random conversations of $from on a model of $to', ({ from, to }) => {
  it('say there what they said, and ask for what they asked for', async () => {
    await fc.assert(
      fc.asyncProperty(talks, async (talk) => {
        const request = clientRequests[from](talk);
        const sent = await sendAs(from, to, request, { name: names[to] });
        if ('message' in sent) throw new Error(sent.message);
        const [before, after] = [conversationOf(from, request), conversationOf(to, sent.body)];
        expect(asToldTo(to, toldIn(after.prompt))).toEqual(asToldTo(to, toldIn(before.prompt)));
        const { arrive, lost } = settingsFor(from, to, talk, settingsOf(before));
        expect(withoutJsonTool(settingsOf(after))).toEqual(arrive);
        expect([...sent.lost].sort()).toEqual(lost);
        // The compiler takes some milliseconds for each.
        if (runs++ % 5 === 0) bodies.push({ protocol: to, body: sent.body, from });
      }),
      { numRuns: 100 },
    );
  });
});

it('all of these are as the published schemas have it', async () => {
  expect(bodies.length).toBeGreaterThan(0);
  expect(await typeErrors(bodies)).toEqual([]);
});
