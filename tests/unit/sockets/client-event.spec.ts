import { describe, expect, it } from 'vitest';
import { scan } from '#lib/core/families/scan';
import { endedIn, frameOf } from '#lib/gateway/sockets/pure/answer-end';
import { bodyOf, eventFields, inputItems, joined, readEvent } from '#lib/gateway/sockets/pure/client-event';
import { errorEvent } from '#lib/gateway/sockets/pure/error-event';

function eventOf(text: string) {
  const scanned = scan(Buffer.from(text), eventFields);
  if ('fault' in scanned) throw new Error(scanned.fault);
  const event = readEvent(scanned);
  if ('fault' in event || event.kind !== 'create') throw new Error('it asks for no response');
  return event;
}

const bodyFor = (text: string, prior: string | null = null) =>
  Buffer.from(bodyOf(eventOf(text), prior)).toString();

describe('the body of a request (contract: sockets/one-call-each)', () => {
  it.each([
    ['{"type":"response.create"}', '{"stream":true}'],
    ['{"type":"response.create","stream":true}', '{"stream":true}'],
    ['{"stream":false,"type":"response.create","n":1.0}', '{"stream":true,"n":1.0}'],
    ['{ "n" : 1e2 , "stream_id" : "a" , "type" : "response.create" }', '{ "n" : 1e2 ,  "stream" : true }'],
    ['{"type":"response.create","generate":null,"stream_id":null,"stream":null}', '{"stream":true}'],
    ['{"\\u0074ype":"response.create","model":"m","generate":true}', '{"stream":true,"model":"m"}'],
    [
      '{"model":"m","input":[{"type":"message"}],"type":"response.create","previous_response_id":"r"}',
      '{"model":"m","input":[{"type":"message"}],"stream":true,"previous_response_id":"r"}',
    ],
  ])('of %s is %s', (text, body) => {
    expect(bodyFor(text)).toBe(body);
  });

  it.each([
    ['"input":[{"b":1}]', '"input":[{"a":1},{"b":1}]'],
    ['"input":[]', '"input":[{"a":1}]'],
    ['"input": [ {"b":1} ]', '"input": [{"a":1}, {"b":1} ]'],
    ['"input":"Hé"', '"input":[{"a":1},{"type":"message","role":"user","content":"Hé"}]'],
    ['"input":null', '"input":[{"a":1}]'],
    ['"n":1', '"n":1,"input":[{"a":1}]'],
    ['"input":7', '"input":7'],
  ])('with what it continues before its input (contract: sockets/continuation): %s', (input, expanded) => {
    const text = `{"type":"response.create",${input},"previous_response_id":"r"}`;
    expect(bodyFor(text, '{"a":1}')).toBe(`{"stream":true,${expanded}}`);
    expect(bodyFor(`{"previous_response_id":"r","type":"response.create",${input}}`, '{"a":1}')).toBe(
      `{"stream":true,${expanded}}`,
    );
  });

  it('behind nothing, the input stays as it is', () => {
    const text = '{"type":"response.create","input":[{"b":1}],"previous_response_id":"r"}';
    expect(bodyFor(text, '')).toBe('{"stream":true,"input":[{"b":1}]}');
    expect(inputItems(eventOf(text).scan)).toBe('{"b":1}');
    expect(joined('', '{"b":1}', '', '{"c":1}')).toBe('{"b":1},{"c":1}');
  });
});

describe('the end of a response', () => {
  it('shows its id and output as they came, without reasoning that only its provider could read', () => {
    const output = (items: string) => `{"type":"response.completed","response":{"id":"r","output":${items}}}`;
    const message = '{"type":"message","n":1.0}';
    const sealed = '{"type":"reasoning","encrypted_content":"x"}';
    expect(endedIn('response.completed', output(`[${message},${sealed}]`))).toEqual({
      id: 'r',
      output: `${message},${sealed}`,
    });
    expect(endedIn('response.completed', output(`[{"type":"reasoning","id":"rs"},${message}]`))).toEqual({
      id: 'r',
      output: '{"type":"message","n":1}',
    });
    expect(endedIn('response.failed', output('[]'))).toBeNull();
    expect(endedIn('response.completed', '{"response":{"id":7}}')).toBeNull();
    expect(endedIn('response.completed', 'no JSON')).toBeNull();
  });

  it('an event gets the stream of its request, and nothing else changes', () => {
    expect(frameOf('{"a":1.0}', 'x')).toBe('{"stream_id":"x","a":1.0}');
    expect(frameOf('{ }', 'x')).toBe('{"stream_id":"x" }');
    expect(frameOf('{"a":1}', null)).toBe('{"a":1}');
  });
});

describe('the error event of an answer (contract: sockets/socket-errors)', () => {
  const told = { lane: null, previous: null, headers: ['x-request-id', 'i', 'set-cookie', 'no'] };
  const eventFor = (status: number, body: string, more: object = {}) =>
    JSON.parse(errorEvent({ ...told, status, body, ...more }));

  it.each([
    [400, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [502, 'server_error'],
  ])('of %i has the type %s and only some of the headers', (status, type) => {
    expect(eventFor(status, '{"error":{"code":"c","message":"m"}}')).toEqual({
      type: 'error',
      status,
      error: { type, code: 'c', message: 'm' },
      headers: { 'x-request-id': 'i' },
    });
  });

  it('keeps what a provider says, and takes text that is no JSON as the message', () => {
    expect(eventFor(400, '{"error":{"type":"own","code":null}}').error).toEqual({ type: 'own', code: null });
    expect(eventFor(500, '<html>').error).toMatchObject({ message: '<html>' });
    expect(eventFor(404, '{"error":{"code":"not_found"}}').error.code).toBe('not_found');
    expect(eventFor(404, '{"error":{"code":"not_found"}}', { previous: 'r', lane: 'a' })).toMatchObject({
      stream_id: 'a',
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    });
  });
});
