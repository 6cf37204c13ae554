import { beforeAll, describe, expect, it } from 'vitest';
import { EventStreamToSse, loadEventStreams } from '#lib/gateway/clouds/event-stream';
import { bedrockMessages, events, sse } from '#tests/support/clouds/answers';
import { chunkMessage, eventMessage } from '#tests/support/clouds/event-stream';

beforeAll(loadEventStreams);

/** What comes out for pieces; and why it failed, if it did. */
async function decoded(pieces: readonly Buffer[]): Promise<{ text: string; code: string | null }> {
  const stream = new EventStreamToSse();
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve) => {
    stream.once('error', (error) => resolve({ text, code: String(Reflect.get(error, 'code')) }));
    stream.once('end', () => resolve({ text, code: null }));
    for (const piece of pieces) stream.write(piece);
    stream.end();
  });
}

const whole = Buffer.concat(bedrockMessages('well'));

describe('the binary stream of Bedrock (contract: families/bedrock-stream)', () => {
  it('is the same events wherever its bytes are cut', async () => {
    for (let at = 1; at < whole.length; at += 1) {
      const { text } = await decoded([whole.subarray(0, at), whole.subarray(at)]);
      if (text !== sse) expect([at, text]).toEqual([at, sse]);
    }
  });

  it('is the same events one byte at a time', async () => {
    const bytes = Array.from(whole, (byte) => Buffer.from([byte]));
    expect(await decoded(bytes)).toEqual({ text: sse, code: null });
  });

  it('ends, wherever it breaks off, with the last event that came whole', async () => {
    const ends: number[] = [];
    let length = 0;
    for (const message of bedrockMessages('well')) {
      length += message.length;
      ends.push(length);
    }
    for (let at = 0; at < whole.length; at += 1) {
      const { text, code } = await decoded([whole.subarray(0, at)]);
      const came = ends.filter((end) => end <= at).length;
      if (text.split('\n\n').length - 1 !== came || code !== null) expect([at, text]).toEqual([at, came]);
    }
  });

  it('fails at a byte that was changed, before the event with it', async () => {
    const [first = 0, second = 0] = bedrockMessages('well').map(({ length }) => length);
    // The length of the second message is 4 bytes, of which two more would wait for megabytes.
    for (let at = first + 2; at < first + second; at += 1) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
      const { text } = await decoded([bytes]);
      expect(sse.startsWith(text)).toBe(true);
      expect(text.split('\n\n').length - 1).toBe(1);
    }
  });

  it('is refused if a message claims to be longer than any may be', async () => {
    const bytes = Buffer.alloc(64, 0xff);
    expect((await decoded([bytes])).code).toBe('BAD_EVENT_STREAM');
    expect((await decoded([Buffer.alloc(64)])).code).toBe('BAD_EVENT_STREAM');
  });

  it('drops what has no event, and keeps an event on one line', async () => {
    const quiet = eventMessage({ ':event-type': 'initial-response', ':message-type': 'event' }, '{}');
    const payload = Buffer.from('{"type":"ping",\n"x":1}').toString('base64');
    const lines = eventMessage(
      { ':event-type': 'chunk', ':message-type': 'event' },
      JSON.stringify({ bytes: payload }),
    );
    const strange = chunkMessage({ type: 'ping\ndata: {"type":"message_stop"}' });
    const untyped = chunkMessage({ keepalive: true });
    const { text } = await decoded([quiet, lines, strange, untyped]);
    expect(text).toBe('event: ping\ndata: {"type":"ping","x":1}\n\n');
  });

  it('turns exceptions and errors into those of Anthropic', async () => {
    const exception = (type: string) =>
      eventMessage({ ':message-type': 'exception', ':exception-type': type }, '{"message":"m"}');
    const error = eventMessage({ ':message-type': 'error', ':error-code': 'Odd', ':error-message': 'm' }, '');
    const kinds = [
      [exception('throttlingException'), 'rate_limit_error'],
      [exception('ThrottlingException'), 'rate_limit_error'],
      [exception('validationException'), 'invalid_request_error'],
      [exception('serviceUnavailableException'), 'overloaded_error'],
      [exception('modelStreamErrorException'), 'api_error'],
      [error, 'api_error'],
    ] as const;
    for (const [bytes, type] of kinds) {
      const data = JSON.stringify({ type: 'error', error: { type, message: 'm' } });
      expect((await decoded([bytes])).text).toBe(`event: error\ndata: ${data}\n\n`);
    }
  });

  it('has each event of the answer once', () => {
    expect(sse.match(/^event: /gm)?.length).toBe(events.length);
  });
});
