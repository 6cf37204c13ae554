import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { readCredential } from '#lib/gateway/flow/credentials';
import { makeKey } from '#lib/platform/secrets';

const a = makeKey();
const b = makeKey();
type Headers = Record<string, string>;

function outcome(headers: Headers, query = ''): string {
  const read = readCredential({ headers, query });
  if (isRefusal(read)) {
    expect(read.message).not.toContain(a);
    expect(read.message).not.toContain(b);
    return read.code;
  }
  return read.secret === a ? 'a' : read.secret === b ? 'b' : read.secret;
}

describe('the credential of a request (contract: authentication/credential, authentication/two-keys)', () => {
  it.each<[string, Headers, string, string]>([
    ['a Bearer key', { authorization: `Bearer ${a}` }, '', 'a'],
    ['the scheme in any case', { authorization: `bEaReR  ${a} ` }, '', 'a'],
    ['x-api-key', { 'x-api-key': a }, '', 'a'],
    ['x-goog-api-key', { 'x-goog-api-key': a }, '', 'a'],
    ['api-key', { 'api-key': ` ${a} ` }, '', 'a'],
    ['?key=', {}, `alt=sse&key=${a}`, 'a'],
    ['an escaped ?key=', {}, `%6bey=${encodeURIComponent(a)}`, 'a'],
    ['the same key twice', { 'x-api-key': a, 'x-goog-api-key': a }, `key=${a}`, 'a'],
    ['Bearer beside the same key', { authorization: `Bearer ${a}`, 'x-api-key': a }, '', 'a'],
    [
      'Bearer beside a foreign key',
      { authorization: `Bearer ${a}`, 'x-api-key': 'sk-other' },
      'key=AIza',
      'a',
    ],
    ['a malformed Bearer key, told later', { authorization: 'Bearer sk-other' }, '', 'sk-other'],
    ['a placeholder beside a good key', { authorization: 'Bearer sk-dummy', 'x-api-key': a }, '', 'a'],
    ['Basic beside a good key', { authorization: 'Basic dTpw', 'x-goog-api-key': a }, '', 'a'],
    ['a placeholder beside a good ?key=', { authorization: 'Bearer none' }, `key=${a}`, 'a'],
    [
      'a placeholder beside two of our keys',
      { authorization: 'Bearer none', 'x-api-key': a, 'api-key': b },
      '',
      'invalid_api_key',
    ],
    [
      'a placeholder beside another',
      { authorization: 'Bearer sk-dummy', 'x-api-key': 'none' },
      '',
      'sk-dummy',
    ],
    ['nothing', {}, '', 'missing_platform_authorization'],
    ['empty headers', { 'x-api-key': '', 'api-key': ' ' }, 'key=', 'missing_platform_authorization'],
    ['a query without key', {}, 'keys=1&alt=sse', 'missing_platform_authorization'],
    ['Basic', { authorization: 'Basic dTpw' }, '', 'invalid_api_key'],
    ['Bearer without a key', { authorization: 'Bearer ' }, '', 'invalid_api_key'],
    ['Bearer alone', { authorization: 'Bearer' }, '', 'invalid_api_key'],
    ['an empty Authorization', { authorization: '' }, '', 'invalid_api_key'],
    ['a key without a scheme', { authorization: a }, '', 'invalid_api_key'],
    ['two Authorization headers', { authorization: `Bearer ${a}, Bearer ${b}` }, '', 'invalid_api_key'],
    [
      'Bearer beside another of our keys',
      { authorization: `Bearer ${a}`, 'api-key': b },
      '',
      'invalid_api_key',
    ],
    [
      'Bearer beside another of our keys in the query',
      { authorization: `Bearer ${a}` },
      `key=${b}`,
      'invalid_api_key',
    ],
    ['two headers that differ', { 'x-api-key': a, 'api-key': b }, '', 'invalid_api_key'],
    ['a header and a query that differ', { 'x-goog-api-key': a }, 'key=AIza', 'invalid_api_key'],
    ['two ?key= that differ', {}, `key=${a}&key=${b}`, 'invalid_api_key'],
  ])('%s', (_name, headers, query, expected) => {
    expect(outcome(headers, query)).toBe(expected);
  });
});
