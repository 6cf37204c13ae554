import { describe, expect, it } from 'vitest';
import { readUserAgent } from '#lib/gateway/flow/call/user-agent';

/** As Node gives a header: a character for each byte. */
const asSent = (text: string) => Buffer.from(text).toString('latin1');

describe('the user agent of a call (contract: call-log/user-agent)', () => {
  it.each(['curl/8.5.0', 'curl/Привет-🌍', 'café', ''])('%s is read as it was written', (text) =>
    expect(readUserAgent(asSent(text))).toBe(text),
  );

  it('a call may have no user agent', () => expect(readUserAgent(undefined)).toBeNull());

  it.each(['caf\xe9 \xff', 'half \xf0\x9f\x8c', 'a surrogate \xed\xa0\xbd', 'overlong \xc0\xaf'])(
    'bytes that are no UTF-8 stay one character each: %j',
    (bytes) => expect(readUserAgent(bytes)).toBe(bytes),
  );

  it('a user agent is cut to 256 units, never inside a character', () => {
    expect(readUserAgent('x'.repeat(300))).toBe('x'.repeat(256));
    expect(readUserAgent(asSent('я'.repeat(300)))).toBe('я'.repeat(256));
    expect(readUserAgent(asSent('🌍'.repeat(200)))).toBe('🌍'.repeat(128));
    expect(readUserAgent(asSent(`x${'🌍'.repeat(200)}`))).toBe(`x${'🌍'.repeat(127)}`);
  });
});
