import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { comparedParts } from '#lib/console/content/compare';
import { contentRowsOf } from '#lib/console/content/rows';
import { chatLine } from '#lib/control/operations/content/chat-line';

const omitted = `omitted-12345-bytes-sha256-${'ab'.repeat(32)}`;

const shown = (family: string, request: unknown, answer: string, contentType = 'application/json') =>
  contentRowsOf(
    call(family),
    {
      ...call(family),
      id: '01a21e11-efa5-7353-870f-47fb54b68e0f',
      request: { contentType: 'application/json', text: JSON.stringify(request), bytes: 10, cut: false },
      answer: { contentType, text: answer, bytes: 20, cut: true },
      keepUntil: '2026-12-01T00:00:00.000Z',
    },
    base,
  );

/** The usual operation of a protocol. */
const call = (family: string) => ({
  family,
  operation: family === 'generate-content' ? 'content.generate' : `${family}.create`,
  requestedModel: 'sandbox/echo',
});
const base = 'https://gateway.example';
const side = { contentType: 'application/json', text: '{}', bytes: 2, cut: false };
const kept = { ...call('chat'), id: 'c', request: side, answer: side, keepUntil: '2026-12-01T00:00:00.000Z' };

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

describe('a kept request as a command (contract: content/again)', () => {
  const bodies = [
    ['plain', '{"model":"m"}'],
    ['with quotes, dollars and backslashes', `{"a":"it's \\"$HOME\\" \`id\` \\\\ !! %s"}`],
    ['with line breaks and tabs', '{\r\n\t"a": "x"\n}\n\n'],
    ['that begins with @', '@/etc/passwd'],
    ['of other scripts', '{"a":"שלום 你好 👋"}'],
    ['longer than an argument may be', JSON.stringify({ a: "'x\n".repeat(60_000) })],
  ];

  test.each(bodies)('has the body byte for byte in a shell: %s', async (_, body = '') => {
    const directory = await mkdtemp(join(tmpdir(), 'curl-'));
    // Prints what it was given as a body.
    const fake = `#!/bin/sh\nwhile [ $# -gt 0 ]; do case "$1" in\n--data-raw) printf %s "$2";;\n--data-binary) cat;;\n-H) echo "$2" >> ${directory}/headers;;\nesac; shift; done\n`;
    await writeFile(join(directory, 'curl'), fake, { mode: 0o755 });
    const rows = contentRowsOf(call('chat'), { ...kept, request: { ...side, text: body } }, base);
    await writeFile(join(directory, 'run.sh'), rows.curl ?? '');
    const env = { ...process.env, PATH: `${directory}:${process.env.PATH}`, MODEL_GATEWAY_KEY: 'mg_secret' };
    const printed = execFileSync('sh', [join(directory, 'run.sh')], { env, maxBuffer: 10_000_000 });
    expect(printed.toString()).toBe(body);
    expect(await readFile(join(directory, 'headers'), 'utf8')).toBe(
      'Authorization: Bearer mg_secret\nContent-Type: application/json\n',
    );
    expect(rows.curl).toContain('$MODEL_GATEWAY_KEY');
    await rm(directory, { recursive: true });
  });

  test.each([
    ['chat', 'chat.create', '/v1/chat/completions'],
    ['messages', 'messages.create', '/v1/messages'],
    ['generate-content', 'content.generate', '/v1/models/sandbox/e%20cho:generateContent'],
    ['generate-content', 'content.stream', '/v1/models/sandbox/e%20cho:streamGenerateContent?alt=sse'],
    ['embeddings', 'embeddings.create', '/v1/embeddings'],
  ])('goes to the address of %s, %s', (family, operation, path) => {
    const asked = { family, operation, requestedModel: 'sandbox/e cho' };
    const answer = { ...side, contentType: 'text/event-stream' };
    expect(contentRowsOf(asked, { ...kept, answer }, base).curl).toContain(`'${base}${path}'`);
  });

  test.each([
    ['was cut', { cut: true }],
    ['is not text', { text: null }],
    ['is empty', { text: '' }],
  ])('is not offered if the request %s', (_, changed) => {
    const request = { ...side, ...changed };
    expect(contentRowsOf(call('chat'), { ...kept, request }, base).curl).toBeNull();
  });

  test('is not offered if the address names something that was not kept', () => {
    const asked = { family: 'videos', operation: 'videos.remix', requestedModel: 'm' };
    expect(contentRowsOf(asked, kept, base).curl).toBeNull();
  });
});

describe('a kept request in the playground (contract: content/again)', () => {
  const seeded = (family: string, request: unknown) =>
    contentRowsOf(call(family), { ...kept, request: { ...side, text: JSON.stringify(request) } }, base)
      .playground;
  const conversation = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: [{ type: 'text', text: 'Bye' }] },
  ];

  test.each([
    [
      'chat',
      { messages: [{ role: 'system', content: 'Be kind.' }, ...conversation], max_tokens: 9, stream: true },
    ],
    ['messages', { system: 'Be kind.', messages: conversation, max_tokens: 9, stream: true }],
  ])('has the model, the settings, the earlier messages and the question of %s', (family, request) => {
    expect(seeded(family, { model: 'sandbox/echo', temperature: 0.5, ...request })).toEqual({
      seed: {
        family,
        model: 'sandbox/echo',
        settings: { stream: true, system: 'Be kind.', temperature: '0.5', maxTokens: '9' },
        turns: [
          { role: 'user', text: 'Hi' },
          { role: 'assistant', text: 'Hello' },
        ],
        text: 'Bye',
      },
    });
  });

  test.each([
    [
      'tools',
      { messages: conversation, tools: [{ type: 'function', function: { name: 'go', parameters: {} } }] },
    ],
    ['no question', { messages: conversation.slice(0, 2) }],
    [
      'a picture',
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] },
        ],
      },
    ],
  ])('cannot be opened with %s, and says so', (_, request) => {
    expect(seeded('chat', { model: 'm', ...request })).toEqual({ reason: expect.stringMatching(/\.$/) });
  });

  test('of embeddings has its texts as lines', () => {
    expect(seeded('embeddings', { model: 'm', input: ['a', 'b'] })).toMatchObject({ seed: { text: 'a\nb' } });
  });
});

describe('two calls line by line (contract: content/again)', () => {
  const rows = (messages: unknown[], answer: string) =>
    shown(
      'chat',
      { model: 'm', messages },
      JSON.stringify({ choices: [{ message: { role: 'assistant', content: answer } }] }),
    );
  const many = Array.from({ length: 30 }, (_, at) => ({ role: 'user', content: `Line ${at}` }));

  test('shows the lines that differ with three lines around them', () => {
    const [request, answer] = comparedParts(
      rows([...many, { role: 'user', content: 'One' }], 'Yes.\nAgreed.'),
      rows([...many, { role: 'user', content: 'Other' }], 'No.\nAgreed.'),
    );
    expect(request?.runs?.map(({ kind, count }) => [kind, count])).toEqual([
      ['skipped', 122],
      ['same', 3],
      ['removed', 1],
      ['added', 1],
      ['same', 3],
    ]);
    expect(answer?.runs?.map(({ kind, lines }) => [kind, ...lines])).toEqual([
      ['removed', 'Yes.'],
      ['added', 'No.'],
      ['same', 'Agreed.'],
    ]);
  });

  test('says that nothing differs', () => {
    const one = rows(many, 'Yes.');
    expect(comparedParts(one, one).map(({ equal }) => equal)).toEqual([true, true]);
  });
});

describe('a call in the chat format (contract: content/export)', () => {
  const line = (family: string, request: unknown, answer: unknown, contentType = 'application/json') => {
    const text = chatLine(family, {
      request: { ...side, text: JSON.stringify(request) },
      answer: { ...side, contentType, text: typeof answer === 'string' ? answer : JSON.stringify(answer) },
    });
    return text === null ? null : JSON.parse(text);
  };
  const asked = { role: 'user', content: 'Hi' };
  const tool = { id: 'c', type: 'function', function: { name: 'go', arguments: '{"n":1}' } };

  test.each([
    ['chat', { messages: [asked] }, { choices: [{ message: { content: 'Yes', tool_calls: [tool] } }] }],
    [
      'responses',
      { model: 'm', input: 'Hi' },
      {
        output: [
          { type: 'message', content: [{ type: 'output_text', text: 'Yes' }] },
          { type: 'function_call', call_id: 'c', name: 'go', arguments: '{"n":1}' },
        ],
      },
    ],
    [
      'messages',
      { model: 'm', max_tokens: 9, messages: [asked] },
      {
        type: 'message',
        content: [
          { type: 'text', text: 'Yes' },
          { type: 'tool_use', id: 'c', name: 'go', input: { n: 1 } },
        ],
      },
    ],
    [
      'generate-content',
      { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
      {
        candidates: [
          { content: { parts: [{ text: 'Yes' }, { functionCall: { name: 'go', args: { n: 1 } } }] } },
        ],
      },
    ],
  ])('has the messages and the answer of %s, tools included', (family, request, answer) => {
    const found = line(family, request, answer);
    expect(found.messages).toMatchObject([
      asked,
      { role: 'assistant', content: 'Yes', tool_calls: [{ type: 'function', function: tool.function }] },
    ]);
  });

  test('puts streams together', () => {
    const answer = events(
      { choices: [{ delta: { role: 'assistant', content: 'Y' } }] },
      { choices: [{ delta: { content: 'es' } }] },
    );
    const found = line('chat', { messages: [asked] }, `${answer}data: [DONE]\n\n`, 'text/event-stream');
    expect(found).toEqual({ messages: [asked, { role: 'assistant', content: 'Yes' }] });
    const other = events(
      { type: 'response.output_text.delta', delta: 'Yes' },
      { type: 'response.completed', response: { output: [] } },
    );
    expect(
      line('responses', { model: 'm', input: 'Hi' }, other, 'text/event-stream').messages[1].content,
    ).toBe('Yes');
  });

  test.each([
    ['an error', 'chat', { messages: [asked] }, { error: { message: 'No' } }],
    ['no conversation', 'embeddings', { input: 'Hi' }, { data: [] }],
    ['an empty answer', 'chat', { messages: [asked] }, { choices: [] }],
    ['a body that is not JSON', 'chat', { messages: [asked] }, 'oops'],
  ])('has no line for %s', (_, family, request, answer) => {
    expect(line(family, request, answer)).toBeNull();
  });
});
