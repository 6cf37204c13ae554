import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskedMessage } from '#lib/gateway/flow/attempt/masked-message';

const credential = 'correct horse battery staple';
const kept = (message: string, request = '') =>
  maskedMessage(message, { credential, request: Buffer.from(request) });

describe('the message of a provider in the call log (contract: call-log/provider-error)', () => {
  it.each([
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    'The model `accounts/fireworks/models/llama-v3p1-8b` does not exist',
    'Publisher Model `projects/a-project/locations/us-central1/publishers/google/models/gemini-x` not found.',
    "Invalid value: 'xhigh'. Supported values are: 'low', 'medium', and 'high'.",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130012 tokens.",
    '[1113][insufficient balance] top up first',
    "Invalid value at 'contents[0].role'",
    'models/gemini-2.5-flash-preview-09-2025 is not found for API version v1beta.',
    'claude-3-5-sonnet-20241022 is retired',
    'Résumé: 数が多すぎます',
  ])('is kept as it is where it repeats nothing: %s', (message) => {
    expect(kept(message)).toBe(message);
  });

  it.each([
    [`No credit for ${credential}.`, 'No credit for ….'],
    ['Incorrect API key provided: sk-ab****wxyz. Find yours.', 'Incorrect API key provided: …. Find yours.'],
    ['Key sk-proj-a_b-c1d2e3f4 is bad', 'Key … is bad'],
    ['Bearer abc.def is bad', '… is bad'],
    ['API key AIzaSyA1234567890abcdefghijk expired', 'API key … expired'],
    ['account 123456789012345678 of me@example.com', 'account … of …'],
    ['See https://u:p@example.com/x?key=secret#a now', 'See https://example.com/x now'],
    ['JWT eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc is old', 'JWT ….….abc is old'],
  ])('names nobody and opens nothing: %s', (message, masked) => {
    expect(kept(message)).toBe(masked);
  });

  it.each([
    ['Your prompt "tell me a joke" was refused.', 'Your prompt … was refused.'],
    ["The text 'I said 'no' to him' is not allowed", 'The text … is not allowed'],
    ["Unknown 'a', got 'b c' in “d” here", "Unknown 'a', got … here"],
    ['It says "and never ends', 'It says …'],
    ['Bad request: {"messages":[{"content":"hi"}]}', 'Bad request: …'],
    ["Field required, got [{'role': 'user', 'content': 'hi'}]", 'Field required, got …'],
    [
      "Input should be 'a' [type=literal_error, input_value='hello', input_type=str]",
      "Input should be 'a' [type=literal_error, …",
    ],
    ['「秘密」and "秘密"', '「秘密」and …'],
  ])('quotes nothing but names: %s', (message, masked) => {
    expect(kept(message)).toBe(masked);
  });

  it('a logged message ends where it begins to repeat the request, however its letters are escaped', () => {
    const prompt = 'Write a poem about the sea, "Zoë" said, and send it to nobody';
    const request = JSON.stringify({ messages: [{ role: 'user', content: prompt }] });
    const ascii = request.replace('ë', '\\u00eb');
    for (const body of [request, ascii]) {
      expect(kept(`Refused input: ${prompt}. Sorry.`, body)).toBe('Refused input: …');
    }
  });

  it('a logged message never contains 32 bytes in a row of a JSON body, wherever they are', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'ab c,é\n'), minLength: 0, maxLength: 80 });
    fc.assert(
      fc.property(letters, letters, letters, letters, (before, shared, after, rest) => {
        const message = kept(before + shared + after, JSON.stringify({ content: rest + shared }));
        const content = rest + shared;
        const bytes = Buffer.from(message);
        for (let at = 0; at + 32 <= bytes.length; at += 1) {
          expect(Buffer.from(content).includes(bytes.subarray(at, at + 32))).toBe(false);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('a message is left out if the request was made to take endless comparisons', () => {
    const from = performance.now();
    expect(kept('ab '.repeat(300), `${'ab '.repeat(10)}x`.repeat(100_000))).toBe('…');
    expect(performance.now() - from).toBeLessThan(5_000);
  });

  it('a logged message has at most 300 bytes and ends with a whole character', () => {
    for (const unit of ['a ', 'é ', '数 ', '💸 ', ' 💸x']) {
      const message = kept(unit.repeat(400));
      expect(Buffer.byteLength(message)).toBeLessThanOrEqual(300);
      expect(Buffer.byteLength(message)).toBeGreaterThan(290);
      expect(message).not.toContain('\ufffd');
      expect(message.endsWith('…')).toBe(true);
    }
    expect(kept('a '.repeat(150))).toHaveLength(299);
  });

  it('masking takes time in proportion to the length of message and request, whatever they contain', () => {
    for (const unit of ['"', "'a ", 'a1', '=-', '*_', 'a@', '[ ', 'http://', 'sk-']) {
      const from = performance.now();
      kept(unit.repeat(2000 / unit.length));
      expect(performance.now() - from).toBeLessThan(1_000);
    }
  });
});
