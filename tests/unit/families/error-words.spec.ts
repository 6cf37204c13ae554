import { describe, expect, it } from 'vitest';
import { errorTexts } from '#lib/core/families/reading/error-texts';

const raw = JSON.stringify({ error: { type: 'overloaded_error', message: 'Overloaded' } });

describe('what a provider says of its error (contract: call-log/provider-error)', () => {
  it.each([
    [
      'OpenAI',
      {
        error: {
          message: 'No such parameter.',
          type: 'invalid_request_error',
          code: 'unsupported_parameter',
        },
      },
      'unsupported_parameter',
      'No such parameter.',
    ],
    [
      'OpenAI without a code',
      { error: { message: 'The server had an error.', type: 'server_error', code: null } },
      'server_error',
      'The server had an error.',
    ],
    [
      'Anthropic',
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      'overloaded_error',
      'Overloaded',
    ],
    [
      'Google, whose code is the status',
      [{ error: { code: 400, status: 'INVALID_ARGUMENT', message: 'Invalid value.' } }],
      'INVALID_ARGUMENT',
      'Invalid value.',
    ],
    [
      'Google with a reason',
      {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'No key.',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      },
      'API_KEY_INVALID',
      'No key.',
    ],
    [
      'an aggregator, which passes on what it got',
      { error: { code: 502, message: 'Provider returned error', metadata: { raw } } },
      'overloaded_error',
      'Overloaded',
    ],
    ['xAI', { code: 'The caller has no permission', error: 'Denied' }, null, 'Denied'],
    ['xAI without more', { code: 'The caller has no permission' }, null, 'The caller has no permission'],
    [
      'FastAPI',
      { detail: [{ type: 'missing', msg: 'Field required', input: { a: 1 } }] },
      null,
      'Field required',
    ],
    ['Fireworks', { error: 'Not found' }, null, 'Not found'],
    [
      'MiniMax',
      { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
      null,
      'insufficient balance',
    ],
    ['a status alone', { error: { code: 502, message: 'Bad gateway' } }, '502', 'Bad gateway'],
    ['text', ' upstream connect error', null, 'upstream connect error'],
    ['a page', '<html>502</html>', null, null],
    ['bytes', 'PK\u0003\u0004', null, null],
    ['nothing', null, null, null],
    ['an empty object', {}, null, null],
  ])('%s', (_, body, code, message) => {
    expect(errorTexts(body).words).toEqual({ code, message });
  });

  it('a sentence or a long string is not taken for an error code', () => {
    expect(
      errorTexts({ error: { code: 'x'.repeat(65), type: 'Tell me a joke', status: 'a_b' } }).words.code,
    ).toBe('a_b');
  });
});
