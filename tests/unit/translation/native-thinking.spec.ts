import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, modelEdits } from '#lib/core/families/edits';
import { scan } from '#lib/core/families/scan';
import type { TextProtocol } from '#lib/core/translation/conversation';
import { nativeThinking } from '#lib/core/translation/native-thinking';
import { markThinking } from '#lib/core/translation/thinking-mark';

type Json = Record<string, unknown>;

const foreign = markThinking({ maker: 'openai', metadata: { openai: { reasoningEncryptedContent: 'x' } } });
const ofCall = markThinking({
  maker: 'google',
  metadata: { google: { thoughtSignature: 'c2ln' } },
  toolCallId: 'call_1',
});

/** The body as a provider gets it. */
function sent(text: string, protocol: TextProtocol, maker: string): string {
  const scanned = scan(Buffer.from(text), { model: {} });
  if ('fault' in scanned) throw new Error(scanned.fault);
  const edits = [...modelEdits(scanned, 'upstream'), ...nativeThinking(scanned, protocol, maker)];
  return Buffer.from(applyEdits(scanned.body, edits)).toString();
}

const sentJson = (body: Json, protocol: TextProtocol, maker = 'anthropic'): Json =>
  JSON.parse(sent(JSON.stringify({ model: 'upstream', ...body }), protocol, maker));

/** What is left of an earlier answer. */
function answerSent(protocol: TextProtocol, answer: unknown, maker?: string): unknown {
  const [list, asked] = {
    chat: ['messages', { role: 'user', content: 'Hi' }],
    responses: ['input', { role: 'user', content: 'Hi' }],
    messages: ['messages', { role: 'user', content: 'Hi' }],
    'generate-content': ['contents', { role: 'user', parts: [{ text: 'Hi' }] }],
  }[protocol] as [string, Json];
  const turns = sentJson({ [list]: [asked, answer, asked] }, protocol, maker)[list] as unknown[];
  expect([turns.at(0), turns.at(-1)]).toEqual([asked, asked]);
  return turns.length === 2 ? 'nothing' : turns[1];
}

const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const model = (...parts: unknown[]) => ({ role: 'model', parts });
const text = { type: 'text', text: `Marks begin with ${foreign.slice(0, 9)}` };
const call = { type: 'tool_use', id: 'call_1', name: 'f', input: {} };

describe('a mark on the way to a provider that speaks the client’s protocol (contract: translation/thinking)', () => {
  it.each<[string, TextProtocol, unknown, unknown]>([
    [
      'messages: the blocks are removed',
      'messages',
      assistant(
        { type: 'thinking', thinking: 'Hm', signature: foreign },
        { type: 'redacted_thinking', data: ofCall },
        text,
        call,
      ),
      assistant(text, call),
    ],
    [
      'messages: a message without anything else is removed, also if its mark was damaged',
      'messages',
      assistant({ type: 'redacted_thinking', data: `${foreign.slice(0, 20)}` }),
      'nothing',
    ],
    [
      'messages: a search by another provider is removed, and its citations',
      'messages',
      assistant(
        { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
        { type: 'server_tool_use', id: 'own', name: 'web_search', input: {} },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [{ encrypted_content: foreign }] },
        { ...text, citations: [{ encrypted_index: foreign }, { encrypted_index: 'own' }] },
        { ...text, citations: [{ encrypted_index: foreign }] },
      ),
      assistant(
        { type: 'server_tool_use', id: 'own', name: 'web_search', input: {} },
        { ...text, citations: [{ encrypted_index: 'own' }] },
        text,
      ),
    ],
    [
      'responses: the item is removed',
      'responses',
      { type: 'reasoning', encrypted_content: foreign },
      'nothing',
    ],
    [
      'chat: the entries are removed',
      'chat',
      {
        role: 'assistant',
        content: 'Hi',
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm', signature: foreign },
          { type: 'reasoning.encrypted', data: 'own' },
          { type: 'reasoning.encrypted', data: ofCall },
        ],
      },
      { role: 'assistant', content: 'Hi', reasoning_details: [{ type: 'reasoning.encrypted', data: 'own' }] },
    ],
    [
      'chat: a list of nothing else is removed',
      'chat',
      { role: 'assistant', reasoning_details: [{ data: ofCall }], content: 'Hi' },
      { role: 'assistant', content: 'Hi' },
    ],
    [
      'generate-content: thoughts are removed, and only the signature of a call',
      'generate-content',
      model(
        { text: '', thought: true, thoughtSignature: foreign },
        { thoughtSignature: foreign },
        { thought_signature: foreign, functionCall: { name: 'f' }, thoughtSignature: foreign },
        { text: foreign },
        { text: 'Hi', thoughtSignature: 'own' },
      ),
      model({ functionCall: { name: 'f' } }, { text: foreign }, { text: 'Hi', thoughtSignature: 'own' }),
    ],
    [
      'generate-content: a content without anything else is removed',
      'generate-content',
      model({ text: 'Hm', thought: true, thoughtSignature: foreign }),
      'nothing',
    ],
  ])('%s', (_, protocol, answer, left) => {
    expect(answerSent(protocol, answer)).toEqual(left);
  });

  it.each<[TextProtocol, string, (mark: string) => unknown, Json]>([
    [
      'messages',
      'anthropic',
      (signature) => assistant({ type: 'thinking', thinking: 'Hm', signature }, call),
      { anthropic: { signature: 'Eo"w\\' } },
    ],
    [
      'messages',
      'anthropic',
      (data) => assistant({ type: 'redacted_thinking', data }, call),
      { anthropic: { redactedData: 'Eo"w\\' } },
    ],
    [
      'responses',
      'openai',
      (encrypted_content) => ({ type: 'reasoning', summary: [], encrypted_content }),
      { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'Eo"w\\' } },
    ],
    [
      'generate-content',
      'google',
      (thoughtSignature) => model({ functionCall: { name: 'f' }, thoughtSignature }),
      { google: { thoughtSignature: 'Eo"w\\' } },
    ],
  ])('of %s that its maker signed becomes what the provider signed', (protocol, maker, answer, metadata) => {
    const mark = markThinking({ maker, metadata: metadata as never });
    expect(answerSent(protocol, answer(mark), maker)).toEqual(answer('Eo"w\\'));
    expect(answerSent(protocol, answer(mark), 'another')).not.toEqual(answer('Eo"w\\'));
  });

  it('an item of responses also gets back the id that was encrypted with it', () => {
    const metadata = { openai: { itemId: 'rs_own', reasoningEncryptedContent: 'own' } };
    const item = {
      id: 'rs_1',
      type: 'reasoning',
      encrypted_content: markThinking({ maker: 'openai', metadata }),
    };
    const left = { id: 'rs_own', type: 'reasoning', encrypted_content: 'own' };
    expect(answerSent('responses', item, 'openai')).toEqual(left);
  });

  it('leaves every other byte as it is', () => {
    const body = (block: string) =>
      `{ "model" : "upstream",\r\n"messages":[{"content" :[ ${block}{"type":"text", "text":"\\u00e9\\"é\\\\"}\t] ,"role":"assistant" }],"n":1e3 } `;
    const block = `{"type":"thinking","signature":"${foreign}","thinking":"\\"]}"} , `;
    expect(sent(body(block), 'messages', 'anthropic')).toBe(body(''));
  });

  it('is only looked for in the text protocols', () => {
    const scanned = scan(
      Buffer.from(JSON.stringify({ input: [{ type: 'reasoning', encrypted_content: foreign }] })),
      {},
    );
    if ('fault' in scanned) throw new Error(scanned.fault);
    expect(nativeThinking(scanned, 'images', 'openai')).toEqual([]);
  });
});

describe('removing marks from the bytes equals removing them from the parsed body', () => {
  const other = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(foreign), fc.constant({ text: foreign }));
  const marked = fc.constant(null);
  const lists = (mark: Json, inner: (list: unknown[]) => Json) =>
    fc
      .array(
        fc.oneof(
          other.map((value) => ({ value, inside: null })),
          fc
            .array(
              fc.oneof(
                marked,
                other.filter((one) => one !== null),
              ),
              { maxLength: 6 },
            )
            .map((inside) => ({ value: null, inside })),
        ),
        { maxLength: 6 },
      )
      .map((turns) => ({
        full: turns.map(({ value, inside }) => (inside ? inner(inside.map((one) => one ?? mark)) : value)),
        left: turns.flatMap(({ value, inside }): unknown[] => {
          if (!inside) return [value];
          const rest = inside.filter((one) => one !== null);
          return inside.length > 0 && rest.length === 0 ? [] : [inner(rest)];
        }),
      }));
  const spaces = fc.constantFrom('', ' ', '\n', '\t \r\n');

  it.each<[TextProtocol, string, Json, (list: unknown[]) => Json]>([
    [
      'messages',
      'messages',
      { type: 'thinking', thinking: ']"', signature: foreign },
      (content) => ({ role: 'assistant', content, x: 1 }),
    ],
    ['generate-content', 'contents', { thought: true, thoughtSignature: foreign }, (parts) => ({ parts })],
  ])('of %s, for every body and spacing', (protocol, list, mark, inner) => {
    fc.assert(
      fc.property(
        lists(mark, inner),
        fc.dictionary(fc.string({ unit: 'binary' }), other),
        spaces,
        ({ full, left }, rest, space) => {
          const names = Object.entries(rest).filter(([name]) => !/^model$/i.test(name));
          const body = (turns: unknown, model: string) => ({
            ...Object.fromEntries(names),
            model,
            [list]: turns,
          });
          const bytes = space + JSON.stringify(body(full, 'client'), null, space);
          expect(JSON.parse(sent(bytes, protocol, 'anthropic'))).toEqual(
            JSON.parse(JSON.stringify(body(left, 'upstream'))),
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it('of chat and generate-content, whose members are removed wherever they are in an object', () => {
    const members = fc.dictionary(fc.string({ unit: 'binary' }), other, { maxKeys: 4 });
    fc.assert(
      fc.property(members, members, spaces, (before, after, space) => {
        const part = { ...before, functionCall: {}, thoughtSignature: foreign, ...after };
        const message = { ...before, reasoning_details: [{ data: foreign }], ...after };
        const { thoughtSignature: _, ...signedNothing } = part;
        const { reasoning_details: __, ...saidNothing } = message;
        const write = (body: unknown) => JSON.stringify(body, null, space);
        const parts = sent(write({ contents: [{ parts: [part] }] }), 'generate-content', 'google');
        expect(JSON.parse(parts)).toEqual(JSON.parse(write({ contents: [{ parts: [signedNothing] }] })));
        const messages = sent(write({ messages: [message] }), 'chat', 'openai');
        expect(JSON.parse(messages)).toEqual(JSON.parse(write({ messages: [saidNothing] })));
      }),
      { numRuns: 200 },
    );
  });
});
