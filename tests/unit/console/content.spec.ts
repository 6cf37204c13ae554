import { describe, expect, test } from 'vitest';
import { contentRowsOf } from '#lib/console/content/rows';

const omitted = `omitted-12345-bytes-sha256-${'ab'.repeat(32)}`;

const shown = (family: string, request: unknown, answer: string, contentType = 'application/json') =>
  contentRowsOf(family, {
    id: '01a21e11-efa5-7353-870f-47fb54b68e0f',
    family,
    request: { contentType: 'application/json', text: JSON.stringify(request), bytes: 10, cut: false },
    answer: { contentType, text: answer, bytes: 20, cut: true },
    keepUntil: '2026-12-01T00:00:00.000Z',
  });

const said = ({ turns }: ReturnType<typeof contentRowsOf>) =>
  turns.map(({ who, parts }) => [who, ...parts.map(({ kind, name, text }) => [kind, name, text])]);

const events = (...values: unknown[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');

describe('kept content as people read it (contract: content/what)', () => {
  test('a chat with tools and a picture, its stream put together', () => {
    const request = {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Weather?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${omitted}` } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":"Rome"}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: '{"sun":true}' },
      ],
    };
    const chunk = (delta: object) => ({ choices: [{ index: 0, delta }] });
    const answer = events(
      chunk({ role: 'assistant', content: 'It is ' }),
      chunk({ content: 'sunny.' }),
      chunk({ tool_calls: [{ index: 0, id: 'b', function: { name: 'wave', arguments: '{"to":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"all"}' } }] }),
    );
    expect(said(shown('chat', request, `${answer}data: [DONE]\n\n`, 'text/event-stream'))).toEqual([
      ['System', ['text', null, 'Be kind.']],
      [
        'User',
        ['text', null, 'Weather?'],
        ['file', null, `image/png, 12,345 bytes, SHA-256 ${'ab'.repeat(6)}…`],
      ],
      ['Assistant', ['tool-call', 'look', '{\n  "at": "Rome"\n}']],
      ['Tool', ['tool-result', 'look', '{\n  "sun": true\n}']],
      ['Assistant', ['text', null, 'It is sunny.'], ['tool-call', 'wave', '{\n  "to": "all"\n}']],
    ]);
  });

  test('thinking and tools of a messages stream', () => {
    const answer = events(
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 't', name: 'go', input: {} },
      },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"n":1}' } },
    );
    const request = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Go' }] };
    expect(said(shown('messages', request, answer, 'text/event-stream'))).toEqual([
      ['User', ['text', null, 'Go']],
      ['Assistant', ['thinking', null, 'Hm.'], ['tool-call', 'go', '{\n  "n": 1\n}']],
    ]);
  });

  test.each([
    [
      'responses',
      { model: 'm', input: 'Hi' },
      { output: [{ type: 'function_call', call_id: 'c', name: 'go', arguments: '{}' }] },
    ],
    [
      'messages',
      { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
      { content: [{ type: 'tool_use', id: 'c', name: 'go', input: {} }] },
    ],
    [
      'generate-content',
      { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
      { candidates: [{ content: { parts: [{ functionCall: { name: 'go', args: {} } }] } }] },
    ],
  ])('a whole answer of %s that calls a tool', (family, request, answer) => {
    const [user, assistant] = said(shown(family, request, JSON.stringify(answer)));
    expect(user).toEqual(['User', ['text', null, 'Hi']]);
    expect(assistant?.[1]).toMatchObject(['tool-call', 'go', expect.stringMatching(/^(\{\})?$/)]);
  });

  test('an error is shown in the provider’s words', () => {
    const answer = JSON.stringify({ error: { message: 'Too long', code: 'context' } });
    expect(said(shown('chat', { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }, answer))).toEqual([
      ['User', ['text', null, 'Hi']],
      ['Assistant', ['error', null, 'Too long']],
    ]);
  });

  test.each([
    ['no conversation', 'embeddings', { input: 'a' }],
    ['a body that no reader takes', 'chat', { messages: [{ role: 'wizard' }] }],
    ['no object', 'chat', [1, 2]],
  ])('of %s, only the bodies are shown', (_, family, request) => {
    const rows = shown(family, request, 'not JSON');
    expect(rows.turns).toEqual([]);
    expect(rows.request.text).toContain('\n');
    expect(rows.answer).toEqual({ text: 'not JSON', size: 'the first 20 bytes' });
  });
});
