import { describe, expect, it } from 'vitest';
import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Ask } from '#lib/core/families/family';
import { readChat } from '#tests/unit/families/make';
import { readMessages } from '#tests/unit/families/messages/make';
import { readResponse } from '#tests/unit/families/responses/make';

const reads: Readonly<Record<string, (body: object) => Ask | Refusal>> = {
  chat: (body) => readChat(body),
  responses: (body) => readResponse(body),
  messages: (body) => readMessages(body),
  'count_tokens of messages': (body) => readMessages(body, 'messages.count_tokens'),
};

describe.each(Object.entries(reads))('state that a provider keeps, named in a body of %s', (_, read) => {
  const referencesOf = (fields: object) => {
    const ask = read({ model: 'm', ...fields });
    return isRefusal(ask) ? ask.code : (ask.references ?? null);
  };

  it.each([
    ['merged extra_body of Google’s endpoint', { google: { cached_content: 'cachedContents/1' } }],
    ['extra_body written out', { extra_body: { google: { cached_content: 'cachedContents/1' } } }],
    ['its other spelling', { extraBody: { google: { cachedContent: 'cachedContents/1' } } }],
    ['extra_body of another dialect', { extra_body: { cached_content: 'cachedContents/1' } }],
    ['the body itself', { cached_content: 'cachedContents/1' }],
    ['the body itself, in camel case', { cachedContent: 'cachedContents/1' }],
  ])('as a context cache in the %s must be the workspace’s own', (_place, fields) => {
    expect(referencesOf(fields)).toEqual([{ kind: 'cache', id: '1', required: true }]);
  });

  it.each([
    [{ previous_response_id: 'r' }, { kind: 'response', id: 'r' }],
    [{ conversation: 'c' }, { kind: 'conversation', id: 'c' }],
    [{ conversation: { id: 'c' } }, { kind: 'conversation', id: 'c' }],
    [{ container: 'x' }, { kind: 'item', id: 'x' }],
    [{ container: { id: 'x' } }, { kind: 'item', id: 'x' }],
  ])('must be the workspace’s own, at the top and in an extra_body: %j', (fields, reference) => {
    const due = [{ ...reference, required: true }];
    expect(referencesOf(fields)).toEqual(due);
    expect(referencesOf({ extra_body: fields })).toEqual(due);
  });

  it.each([
    {},
    { google: { thinking_config: {}, cached_content: null } },
    { google: null, extra_body: null, container: null },
    { container: { skills: [] }, conversation: null },
    { extra_body: { container: { type: 'auto' } } },
    { metadata: { cached_content: 'a', container: 'b' }, google: 'text' },
  ])('is not named by %j', (fields) => {
    expect(referencesOf(fields)).toBeNull();
  });

  it.each([
    { google: { cached_content: 1 } },
    { extra_body: { cached_content: {} } },
    { previous_response_id: ['r'] },
    { extra_body: { conversation: 1 } },
    { container: { id: 1 } },
  ])('is refused under a name of another type: %j', (fields) => {
    expect(referencesOf(fields)).toBe('invalid_body');
  });
});
