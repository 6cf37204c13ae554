import { describe, expect, it } from 'vitest';
import { countDecoder, messagesDecoder } from '#lib/gateway/clouds/answers';

const json = { 'content-type': 'application/json', 'content-length': '7', 'x-amzn-requestid': 'r' };

/** A body as its client gets it; null: nothing decodes it. */
async function decoded(
  status: number,
  body: string,
  { decoder = messagesDecoder, headers = json as object } = {},
) {
  const made = decoder(status, { ...headers });
  if (made === null) return null;
  expect(made.headers).not.toHaveProperty('content-length');
  let text = '';
  made.decoder.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise((resolve) => made.decoder.once('end', resolve));
  for (let at = 0; at < body.length; at += 1_000) made.decoder.write(body.slice(at, at + 1_000));
  made.decoder.end();
  await ended;
  return text;
}

const error = (type: string, message: string) => JSON.stringify({ type: 'error', error: { type, message } });

describe('errors of a cloud (contract: families/variants)', () => {
  it('become errors of Anthropic by their status', async () => {
    expect(await decoded(429, '{"message":"slow"}')).toBe(error('rate_limit_error', 'slow'));
    expect(await decoded(403, '{"Message":"no"}')).toBe(error('permission_error', 'no'));
    expect(await decoded(503, '{"message":"busy"}')).toBe(error('overloaded_error', 'busy'));
    expect(await decoded(500, '{"message":"m"}')).toBe(error('api_error', 'm'));
    expect(await decoded(418, '{"message":"m"}')).toBe(error('invalid_request_error', 'm'));
    const google = { error: { code: 404, message: 'gone', status: 'NOT_FOUND' } };
    expect(await decoded(404, JSON.stringify(google))).toBe(error('not_found_error', 'gone'));
    expect(await decoded(404, JSON.stringify([google]))).toBe(error('not_found_error', 'gone'));
  });

  it('stay byte for byte where they are Anthropic’s, or say nothing', async () => {
    for (const body of [
      error('overloaded_error', 'm'),
      '{ "odd" : 1 }',
      'not JSON',
      '',
      '"text"',
      '[]',
      'null',
    ]) {
      expect(await decoded(400, body)).toBe(body);
    }
    const long = JSON.stringify({ message: 'x'.repeat(100_000) });
    expect(await decoded(400, long)).toBe(long);
  });

  it('are left alone in a coding, in another type, and in good answers', async () => {
    expect(await decoded(400, '', { headers: { ...json, 'content-encoding': 'gzip' } })).toBeNull();
    expect(await decoded(400, '', { headers: { 'content-type': 'text/html' } })).toBeNull();
    expect(await decoded(200, '{"message":"m"}')).toBeNull();
  });

  it('a count of Bedrock becomes one of Anthropic', async () => {
    const decoder = countDecoder;
    expect(await decoded(200, '{"inputTokens":7}', { decoder })).toBe('{"input_tokens":7}');
    expect(await decoded(200, '{"other":7}', { decoder })).toBe('{"other":7}');
    expect(await decoded(429, '{"message":"slow"}', { decoder })).toBe(error('rate_limit_error', 'slow'));
  });
});
