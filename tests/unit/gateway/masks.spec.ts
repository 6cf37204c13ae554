import { describe, expect, test } from 'vitest';
import type { MaskKind } from '#lib/core/facts/snapshot';
import { type Masks, maskerOf } from '#lib/gateway/content/pure/masks/mask';
import { readPatterns } from '#lib/gateway/content/pure/masks/own';
import { canaries } from '#tests/support/canaries';

const every: Masks = { ready: ['keys', 'mail', 'cards', 'phones'], patterns: null };
const json = { contentType: 'application/json', cut: false };
const events = { contentType: 'text/event-stream', cut: false };

function masked(text: string, { masks = every, side = json, of = 'answer' as 'answer' | 'request' } = {}) {
  return maskerOf(masks).mask({ ...side, text }, of).text ?? '';
}
const only = (kind: MaskKind): Masks => ({ ready: [kind], patterns: null });
const own = (patterns: string): Masks => ({ ready: [], patterns });

describe('ready masks (contract: content/masks)', () => {
  test.each(
    Object.entries(canaries).flatMap(([kind, list]) =>
      list.map((canary) => [kind as MaskKind, canary] as const),
    ),
  )('%s: %s', (kind, canary) => {
    const shown = masked(JSON.stringify({ text: `Before ${canary} after.` }), { masks: only(kind) });
    expect(JSON.parse(shown).text).toMatch(/^Before \W?\[masked: [a-z ]+\]\W? after\.$/);
  });

  test.each([
    ['a card number whose check digit is wrong', 'cards', '4111 1111 1111 1112'],
    ['a time in milliseconds', 'cards', '1795800000000'],
    ['a hash', 'cards', `${'a'.repeat(16)}4111111111111111`],
    ['the decimals of a number', 'cards', '0.4111111111111111'],
    ['a handle', 'mail', 'write to @bob or bob@localhost'],
    ['a date', 'phones', '01.02.2026, 2026-02-01 and 1795800000'],
    ['code that only names a secret', 'keys', 'const password: string = readPassword(token);'],
    ['a word that begins like a key', 'keys', 'sk-short and task-force-of-the-united-nations'],
  ] as const)('leave %s as it is', (_, kind, text) => {
    const body = JSON.stringify({ text });
    expect(masked(body, { masks: only(kind) })).toBe(body);
  });

  test('mask the whole value of a property with the name of a secret', () => {
    const body = {
      tools: [{ authorization: 'correct-horse' }],
      input: { api_key: 'abcdefgh' },
      key: 'abcdefgh',
    };
    expect(JSON.parse(masked(JSON.stringify(body)))).toEqual({
      tools: [{ authorization: '[masked: key]' }],
      input: { api_key: '[masked: key]' },
      key: 'abcdefgh',
    });
  });

  test('mask only what was chosen', () => {
    const body = JSON.stringify({ text: 'bob@example.com 4111 1111 1111 1111' });
    expect(masked(body, { masks: only('cards') })).toBe('{"text":"bob@example.com [masked: card number]"}');
  });
});

describe('where a secret is (contract: content/masks)', () => {
  test('everything around it stays as it was, byte for byte', () => {
    const body = '{ "a" : "x \\u00e9 bob@example.com",\n"n":1.50,"a":[ ] }';
    expect(masked(body)).toBe('{ "a" : "x \\u00e9 [masked: mail address]",\n"n":1.50,"a":[ ] }');
  });

  test.each([
    ['an escape', '{"t":"bob\\u0040example.com"}'],
    ['an escape within JSON in a string', JSON.stringify({ args: '{"to":"bob\\u0040example.com"}' })],
    ['JSON in JSON in JSON', JSON.stringify({ a: JSON.stringify({ b: '{"c":"bob\\u0040example.com"}' }) })],
    ['an escaped backslash before an escape', '{"t":"bob\\u005cu0040example.com"}'],
    ['an address of the web', '{"t":"https://x.example/?mail=bob%40example.com"}'],
    ['the name of a property', '{"bob@example.com":1}'],
    ['a property that is there twice', '{"a":"bob@example.com","a":"x"}'],
    ['text that is no JSON', 'Bad gateway: bob@example.com'],
    ['JSON that broke off', '{"t":"bob@example.com'],
    ['JSON behind something else', 'x {"t":"bob\\u0040example.com"}'],
    ['lines of JSON', '{"t":1}\n{"t":"bob@example.com"}'],
  ])('it is found in %s', (_, body) => {
    const shown = masked(body);
    expect(shown).toContain('[masked: mail address]');
    expect(shown).not.toMatch(/bob|example\.com/);
  });

  test('a number that is a card number becomes a mark, and the body stays JSON', () => {
    expect(masked('{"card":4111111111111111,"n":12}')).toBe('{"card":"[masked: card number]","n":12}');
  });

  test.each(['4111 1111 1111 1111', 'data: 4111 1111\n\ndata: 1111 1111\n\n', '[4111 1111 1111 1111]'])(
    'numbers that are no JSON are text: %s',
    (body) => {
      expect(masked(body)).toContain('[masked: card number]');
      expect(masked(body)).not.toContain('1111 1111');
    },
  );

  test('a header that is kept is masked too', () => {
    const side = { contentType: 'application/json; x=bob@example.com', text: '{}', cut: false };
    expect(maskerOf(every).mask(side, 'request').contentType).toBe(
      'application/json; x=[masked: mail address]',
    );
  });

  test('log probabilities, which repeat the text token by token, are left out', () => {
    const body = JSON.stringify({
      choices: [{ logprobs: { content: [{ token: '4111', bytes: [52, 49] }] }, index: 0 }],
    });
    expect(masked(body)).toBe('{"choices":[{"logprobs":null,"index":0}]}');
  });

  test('cut content ends before the secret that it may end with', () => {
    const side = { ...json, cut: true };
    const shown = masked(`{"t":"${'word '.repeat(100)}4111 1111 1111 11`, { side });
    expect(shown).toMatch(/^\{"t":"(word )+\w*$/);
    expect(shown).not.toContain('4111');
  });
});

/** A text as the events of each protocol deliver it. */
const streams: Readonly<Record<string, (pieces: readonly string[]) => unknown[]>> = {
  chat: (pieces) => pieces.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
  'arguments of a tool': (pieces) =>
    pieces.map((one) => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: one } }] } }],
    })),
  'chat without a number in all events': (pieces) =>
    pieces.map((content, at) => ({ choices: [{ ...(at % 2 === 0 && { index: 0 }), delta: { content } }] })),
  'two answers of chat in turn': (pieces) =>
    pieces.flatMap((content) => [
      { choices: [{ index: 0, delta: { content } }] },
      { choices: [{ delta: { content: '. No. ' }, index: 1 }] },
    ]),
  responses: (pieces) =>
    pieces.map((delta, at) => ({
      type: 'response.output_text.delta',
      item_id: `item-${at}`,
      output_index: 0,
      content_index: 0,
      delta,
    })),
  messages: (pieces) =>
    pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  'messages that begin with text': ([first = '', ...pieces]) => [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: first } },
    ...pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  ],
  'input of a tool in messages': (pieces) =>
    pieces.map((one) => ({
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: one },
    })),
  'generate-content': (pieces) =>
    pieces.map((text) => ({ candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0 }] })),
  completions: (pieces) => pieces.map((text) => ({ choices: [{ text, index: 0 }] })),
};

/** The strings of a body, whatever they are in, put together. */
function said(body: string): string {
  const texts: string[] = [];
  for (const [, data = ''] of body.matchAll(/^data: (.*)$/gm)) {
    JSON.parse(data, (key, value) => {
      if (/^(content|text|delta|arguments|partial_json)$/.test(key) && typeof value === 'string')
        texts.push(value);
      return value;
    });
  }
  return texts.join('');
}

describe('a secret in pieces (contract: content/masks)', () => {
  const secrets = Object.values(canaries).flat();

  test.each(Object.entries(streams))('is masked over the events of a stream: %s', (name, eventsOf) => {
    for (const size of [1, 3, 7]) {
      for (const secret of secrets) {
        const text = `Say "${secret}" now.`;
        const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
        const body = eventsOf(pieces)
          .map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`)
          .join('');
        const shown = said(masked(body, { side: events })).replaceAll('. No. ', '');
        expect(shown, `${name} ${size}`).toMatch(/^Say ["']?(\[masked: [a-z ]+\])+["']? now\.$/);
      }
    }
  });

  test('is masked in a stream that is one JSON array', () => {
    const body = JSON.stringify(streams['generate-content']?.(['bob@exam', 'ple.com']), null, 1);
    expect(masked(body)).not.toMatch(/bob|ple\.com/);
  });

  test('is masked if an escape is in two pieces of JSON in a string', () => {
    const pieces = ['{"to":"bob\\u0', '040example', '.com"}'];
    const body = (streams['arguments of a tool']?.(pieces) ?? [])
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join('');
    expect(said(masked(body, { side: events }))).toBe('{"to":"[masked: mail address]"}');
  });

  test('is masked if the data of an event has several lines', () => {
    const event = (text: string) => `data: {"choices":[{"delta":\ndata: {"content":"${text}"}}]}\n\n`;
    const shown = masked(event('bob@exam') + event('ple.com'), { side: events });
    expect(shown).toBe(event('[masked: mail address]') + event(''));
  });

  test('is masked if the last event broke off, or lines end with carriage returns', () => {
    const body =
      'data: {"choices":[{"delta":{"content":"4111 1111 "}}]}\r\n\r\ndata: {"choices":[{"delta":{"content":"1111 1111';
    const shown = masked(body, { side: events });
    expect(shown).toContain('[masked: card number]');
    expect(shown).not.toContain('1111');
  });

  test('is masked over the parts of a request, and what another role says is not part of it', () => {
    const contents = [
      { role: 'model', parts: [{ text: 'It is bob@exam' }] },
      { role: 'model', parts: [{ text: 'ple.com' }] },
      { role: 'user', parts: [{ text: 'bob@example.com' }] },
    ];
    const shown = JSON.parse(masked(JSON.stringify({ contents }), { of: 'request' }));
    expect(shown.contents.map(({ parts }: (typeof contents)[0]) => parts[0]?.text)).toEqual([
      'It is [masked: mail address]',
      '',
      '[masked: mail address]',
    ]);
  });
});

describe('own patterns (contract: content/masks)', () => {
  test('are masked with their name, in text and numbers', () => {
    const masks = own('staff number: EMP-[0-9]{6}\n\ncode: (?i)\\bblue\\s+heron\\b\nten: ^[0-9]{10}$');
    expect(masked('{"t":"EMP-123456 and Blue  Heron","n":1234567890}', { masks })).toBe(
      '{"t":"[masked: staff number] and [masked: code]","n":"[masked: ten]"}',
    );
  });

  test.each([
    ['no name', 'EMP-[0-9]{6}', /line 1 must be "name: pattern"/],
    ['a name that could break JSON', 'a"b: x', /line 1 must be/],
    ['a pattern that cannot be read', 'ok: x\nbad: (', /line 2: the pattern cannot be read/],
    ['look-behind', 'bad: (?<=a)\\1', /cannot be read/],
    ['empty matches', 'bad: a*', /matches empty text/],
    ['too long a pattern', `bad: ${'a'.repeat(201)}`, /at most 200 characters/],
    ['too large a pattern', 'bad: (?:[a-z]{1,9}x){60}', /too large/],
    ['too many', Array.from({ length: 11 }, (_, at) => `p${at}: x`).join('\n'), /at most 10/],
  ])('are refused with %s', (_, text, message) => {
    expect(() => readPatterns(text)).toThrow(message);
  });

  test('what cannot be masked throws, so that it is not kept', () => {
    expect(() => maskerOf(own('bad: ('))).toThrow(/cannot be read/);
    let text = 'bob@example.com"';
    for (let level = 0; level < 10; level += 1) text = JSON.stringify(text).slice(1, -1);
    expect(() => masked(JSON.stringify({ text }))).toThrow(/escaped more than 8 times/);
  });
});

describe('bodies of 1 MiB (contract: content/masks)', () => {
  const size = 1_048_576;
  const filled = (part: string) => part.repeat(Math.ceil(size / part.length)).slice(0, size);

  test.each([
    ['one letter', 'a'],
    ['at signs', '@'],
    ['half addresses', 'a.b@'],
    ['digits', '4'],
    ['digits in groups', '4 '],
    ['beginnings of tokens', '-eyJ'],
    ['beginnings of private keys', '-----BEGIN PRIVATE KEY-----'],
    ['names of secrets', 'password = '],
    ['phone numbers', '030 12 '],
    ['backslashes and quotes', '\\"'],
    ['opening brackets', '[{"a":'],
    ['empty events', 'data:\n\n'],
    ['events', 'data: {"choices":[{"delta":{"content":"a@b"}}]}\n\n'],
  ])('are masked in time that grows with their length: %s', (_, part) => {
    const whole = filled(part);
    const time = (text: string) => {
      const began = performance.now();
      for (const body of [text, JSON.stringify({ text })]) masked(body, { side: events });
      for (const body of [text, JSON.stringify({ text })]) masked(body);
      return performance.now() - began;
    };
    time(whole.slice(0, size / 16));
    const [small, large] = [time(whole.slice(0, size / 8)), time(whole)];
    // Quadratic time would be 64 times as long.
    expect(large).toBeLessThan(24 * small + 500);
  });
});
