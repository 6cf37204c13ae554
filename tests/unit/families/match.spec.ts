import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import type { Operation } from '#lib/core/families/family';
import { familyOf, operations } from '#lib/core/families/index';
import { createMatch, match } from '#lib/core/families/match';

function operation(method: Operation['method'], path: string, prefixes: Operation['prefixes']): Operation {
  return {
    name: `${method} ${path}`,
    family: 'videos',
    method,
    path,
    prefixes,
    steps: 'stored',
    fields: null,
  };
}

const content: Operation['prefixes'] = ['v1', 'v1beta', 'v1alpha'];
const wide = createMatch([
  ...operations,
  operation('POST', 'videos', ['v1']),
  operation('GET', 'videos', ['v1']),
  operation('GET', 'videos/{id}', ['v1']),
  operation('DELETE', 'videos/{video}', ['v1']),
  operation('GET', 'videos/{id}/content', ['v1']),
  operation('POST', 'models/{model+}:generateContent', content),
  operation('POST', 'models/{model+}:streamGenerateContent', content),
  operation('GET', 'models/{model+}/operations/{id}', ['v1beta']),
  operation('GET', 'files/{id}:download', ['v1beta']),
]);

function hit(method: string, path: string): string {
  const matched = wide(method, path);
  if (isRefusal(matched)) return `${matched.code}${matched.allow ? ` (${matched.allow})` : ''}`;
  const params = Object.entries(matched.params).map(([name, value]) => `${name}=${value}`);
  return [matched.operation.name, ...params].join(' ');
}

describe('a request finds its operation (contract: families/operations, families/prefixes)', () => {
  it.each([
    ['POST', '/v1/chat/completions', 'chat.create'],
    ['GET', '/v1/models', 'models.list'],
    ['GET', '/v1beta/models', 'models.list'],
    ['GET', '/v1alpha/models', 'models.list'],
    ['GET', '/v1/models/gpt', 'models.read model=gpt'],
    ['GET', '/v1/models/vendor/name', 'models.read model=vendor/name'],
    ['GET', '/v1/models/vendor%2Fname%3A8b', 'models.read model=vendor/name:8b'],
    ['GET', '/v1/models/llama3:8b', 'models.read model=llama3:8b'],
    ['GET', '/v1/models/operations/x', 'models.read model=operations/x'],
    ['POST', '/v1beta/models/a/b:generateContent', 'POST models/{model+}:generateContent model=a/b'],
    ['POST', '/v1/models/a%3AgenerateContent', 'POST models/{model+}:generateContent model=a'],
    [
      'POST',
      '/v1alpha/models/a:8b:streamGenerateContent',
      'POST models/{model+}:streamGenerateContent model=a:8b',
    ],
    ['POST', '/v1beta/a/b:generateContent', 'POST models/{model+}:generateContent model=a/b'],
    ['POST', '/v1beta/a/b:8b%3AgenerateContent', 'POST models/{model+}:generateContent model=a/b:8b'],
    ['GET', '/v1beta/models/a/b/operations/7', 'GET models/{model+}/operations/{id} model=a/b id=7'],
    ['GET', '/v1beta/files/abc:download', 'GET files/{id}:download id=abc'],
    ['GET', '/v1/videos/v%20%C3%A91', 'GET videos/{id} id=v é1'],
    ['DELETE', '/v1/videos/v1', 'DELETE videos/{video} video=v1'],
    ['GET', '/v1/videos/v1/content', 'GET videos/{id}/content id=v1'],
    ['GET', '/v1/%6dodels', 'models.list'],
    ['POST', '/chat/completions', 'chat.create'],
    ['POST', '/responses', 'responses.create'],
    ['POST', '/messages', 'messages.create'],
    ['GET', '/models', 'models.list'],
    ['GET', '/models/vendor/name', 'models.read model=vendor/name'],
    ['GET', '/videos/v1/content', 'GET videos/{id}/content id=v1'],
    ['POST', '/models/a/b:generateContent', 'POST models/{model+}:generateContent model=a/b'],
    ['GET', '/files/abc:download', 'content.file id=abc'],
    ['POST', '//v1/chat/completions', 'chat.create'],
    ['POST', '/v1//chat/completions', 'chat.create'],
    ['POST', '/v1///chat//completions', 'chat.create'],
    ['POST', '//chat/completions', 'chat.create'],
    ['POST', '/v1//v1/messages', 'messages.create'],
    ['POST', '/v1beta//models/a:generateContent', 'POST models/{model+}:generateContent model=a'],
    ['GET', '/v1/models//vendor//name', 'models.read model=vendor/name'],
    ['GET', '/v1/videos//v1/content', 'GET videos/{id}/content id=v1'],
    ['POST', '/v1/v1/messages', 'messages.create'],
    ['POST', '/v1/v1/messages/count_tokens', 'messages.count_tokens'],
    ['GET', '/v1/v1/models', 'models.list'],
    ['POST', '/v1beta/v1beta/models/a:generateContent', 'POST models/{model+}:generateContent model=a'],
    ['POST', '/v1/v1beta/models/a:generateContent', 'POST models/{model+}:generateContent model=a'],
    ['POST', '/v1beta/v1/chat/completions', 'chat.create'],
    ['POST', '/v1/v1beta/chat/completions', 'chat.create'],
  ])('%s %s', (method, path, expected) => expect(hit(method, path)).toBe(expected));
});

describe('a method that a path does not serve is 405 and names those that it does (contract: request/method-not-allowed)', () => {
  it.each([
    ['POST', '/v1/models', 'GET'],
    ['HEAD', '/v1/models', 'GET'],
    ['OPTIONS', '/v1/chat/completions', 'POST, GET'],
    ['GET', '/v1/completions', 'POST'],
    ['BREW', '/v1/completions', 'POST'],
    ['PUT', '/v1/videos', 'POST, GET'],
    ['PATCH', '/v1/videos/v1', 'GET, DELETE'],
    ['POST', '/v1/models/vendor/name', 'GET'],
    ['GET', '/v1/models/name:generateContent', 'POST'],
    ['GET', '/v1beta/vendor/name:generateContent', 'POST'],
    ['constructor', '/v1/models', 'GET'],
  ])('%s %s', (method, path, allow) => expect(hit(method, path)).toBe(`method_not_allowed (${allow})`));
});

describe('a path that does not exist is 404, a malformed one 400 (contract: request/not-found, request/malformed-target)', () => {
  it.each([
    ['/v1', 'not_found'],
    ['/', 'not_found'],
    ['/v1/', 'not_found'],
    ['/v2/models', 'not_found'],
    ['/v1beta/chat/completions', 'not_found'],
    ['/v1/chat', 'not_found'],
    ['/v1/chat/completions/', 'not_found'],
    ['/v1/models//', 'not_found'],
    ['/v1/models/a%2F%2Fb', 'invalid_body'],
    ['/v1/models/', 'not_found'],
    ['/v1/models/:generateContent', 'models.read model=:generateContent'],
    ['/v1beta/vendor/name', 'not_found'],
    ['/v1beta/vendor/name:free', 'not_found'],
    ['/v1beta/name:generateContent', 'not_found'],
    ['/v1/v1/v1/models', 'not_found'],
    ['/v1beta/v1beta/chat/completions', 'not_found'],
    ['/v1/videos/a%2Fb', 'not_found'],
    ['/v1%2Fmodels', 'not_found'],
    ['/v1/__proto__', 'not_found'],
    ['/v1/%zz', 'invalid_body'],
    ['/v1/models/%', 'invalid_body'],
    ['/v1/models/%C3', 'invalid_body'],
    ['/v1/../v1/models', 'invalid_body'],
    ['/v1/models/..', 'invalid_body'],
    ['/v1/videos/%2e%2E/content', 'invalid_body'],
    ['/v1/models/a%2F..%2Fb', 'invalid_body'],
    ['/v1/models/a%00b', 'invalid_body'],
    ['/v1/models/a%5Cb', 'invalid_body'],
    ['https://host/v1/models', 'invalid_body'],
    ['*', 'invalid_body'],
    ['', 'invalid_body'],
  ])('GET %s', (path, expected) => expect(hit('GET', path)).toBe(expected));

  it.each([
    ['/v1/v1/v1/chat/completions', '/v1/chat/completions'],
    ['/openai/v1/chat/completions', '/v1/chat/completions'],
    ['/v1/messages/counts', '/v1/messages'],
    ['/v2/models/name:generateContent', '/v1beta/models/{model}:generateContent'],
    ['/v1/chat/completions/', '/v1/chat/completions'],
    ['/v1/Chat/Completions', '/v1/chat/completions'],
    ['/v1beta/chat/completions', '/v1/chat/completions'],
  ])('%s is told to use %s', (path, path2) => {
    const refused = match('POST', path);
    expect(isRefusal(refused) && refused.message).toContain(`use ${path2}.`);
  });
});

describe('the table of the service', () => {
  it.each([
    ['GET', '/v1/chat/completions', 'chat.list'],
    ['GET', '/v1/chat/completions/chatcmpl_1', 'chat.retrieve id=chatcmpl_1'],
    ['POST', '/v1/chat/completions/chatcmpl_1', 'chat.update id=chatcmpl_1'],
    ['DELETE', '/v1/chat/completions/chatcmpl_1', 'chat.delete id=chatcmpl_1'],
    ['GET', '/v1/chat/completions/chatcmpl_1/messages', 'chat.messages id=chatcmpl_1'],
    ['POST', '/v1/conversations', 'conversations.create'],
    ['GET', '/v1/conversations/conv_1', 'conversations.retrieve id=conv_1'],
    ['POST', '/v1/conversations/conv_1', 'conversations.update id=conv_1'],
    ['DELETE', '/v1/conversations/conv_1', 'conversations.delete id=conv_1'],
    ['POST', '/v1/conversations/conv_1/items', 'conversations.items.create id=conv_1'],
    ['GET', '/v1/conversations/conv_1/items', 'conversations.items.list id=conv_1'],
    ['GET', '/v1/conversations/conv_1/items/msg_1', 'conversations.items.retrieve id=conv_1 item=msg_1'],
    ['DELETE', '/v1/conversations/conv_1/items/msg_1', 'conversations.items.delete id=conv_1 item=msg_1'],
    ['POST', '/v1/responses/compact', 'responses.compact'],
    ['POST', '/responses/compact', 'responses.compact'],
    ['POST', '/v1/videos', 'videos.create'],
    ['GET', '/v1/videos', 'videos.list'],
    ['POST', '/v1/videos/edits', 'videos.edit'],
    ['POST', '/v1/videos/extensions', 'videos.extend'],
    ['POST', '/v1/videos/characters', 'videos.characters.create'],
    ['GET', '/v1/videos/characters/char_1', 'videos.characters.retrieve id=char_1'],
    ['GET', '/v1/videos/video_1', 'videos.retrieve id=video_1'],
    ['DELETE', '/v1/videos/video_1', 'videos.delete id=video_1'],
    ['GET', '/v1/videos/video_1/content', 'videos.content id=video_1'],
    ['POST', '/v1/videos/video_1/remix', 'videos.remix id=video_1'],
    ['POST', '/v1beta/models/vendor/name:predictLongRunning', 'content.predictLongRunning model=vendor/name'],
    ['POST', '/v1/models/veo-3.1%3ApredictLongRunning', 'content.predictLongRunning model=veo-3.1'],
    ['GET', '/v1beta/models/vendor/name/operations/op1', 'content.model_operation model=vendor/name id=op1'],
    ['GET', '/v1/models/veo-3.1/operations/op1', 'content.model_operation model=veo-3.1 id=op1'],
    ['GET', '/v1alpha/operations/op1', 'content.operation id=op1'],
    ['GET', '/v1beta/files/abc123:download', 'content.file id=abc123'],
    ['POST', '/v1beta/cachedContents', 'content.caches.create'],
    ['GET', '/v1/cachedContents', 'content.caches.list'],
    ['GET', '/v1beta/cachedContents/abc123', 'content.caches.retrieve id=abc123'],
    ['PATCH', '/v1alpha/cachedContents/abc123', 'content.caches.update id=abc123'],
    ['DELETE', '/v1beta/cachedContents/abc123', 'content.caches.delete id=abc123'],
    ['GET', '/v1beta/files', 'content.files.list'],
    ['GET', '/v1alpha/files/abc123', 'content.files.retrieve id=abc123'],
    ['DELETE', '/v1beta/files/abc123', 'content.files.delete id=abc123'],
    ['POST', '/upload/v1beta/files', 'content.files.create'],
    ['POST', '/upload/v1/files', 'content.files.create'],
    ['POST', '/v1beta/upload/v1alpha/files', 'content.files.create'],
  ])('%s %s is %s', (method, path, expected) => {
    const matched = match(method, path);
    if (isRefusal(matched)) throw new Error(matched.message);
    const params = Object.entries(matched.params).map(([name, value]) => `${name}=${value}`);
    expect([matched.operation.name, ...params].join(' ')).toBe(expected);
  });

  it.each([
    ['POST', '/v1/videos/video_1', 'method_not_allowed'],
    ['POST', '/v1/videos/abc/content', 'method_not_allowed'],
    ['POST', '/v1/videos/a/b', 'not_found'],
    ['GET', '/v1beta/videos', 'not_found'],
    ['POST', '/v1beta/files', 'method_not_allowed'],
    ['POST', '/v1beta/files/abc123', 'method_not_allowed'],
    ['GET', '/upload/v1beta/files', 'method_not_allowed'],
    ['POST', '/upload/v2/files', 'not_found'],
    ['DELETE', '/v1beta/operations/op1', 'method_not_allowed'],
    ['GET', '/v1beta/models/x:predictLongRunning', 'method_not_allowed'],
  ])('%s %s is %s', (method, path, code) => expect(match(method, path)).toMatchObject({ code }));

  it.each([
    ['/v1/responses/compress', 'POST /v1/responses/compress; use POST /v1/responses, '],
    ['/responses/compress', 'POST /responses/compress; use '],
    ['/v1/videos/generations', 'POST /v1/videos/generations; use POST /v1/videos, '],
    ['/v1/videos/cuts', 'POST /v1/videos/cuts; use POST /v1/videos, '],
    ['/v1beta/models/x:embedText', 'POST :embedText on models; use :generateContent, '],
    [
      '/v1/models/vendor/x:batchGenerateContent',
      'POST :batchGenerateContent on models; use :generateContent, ',
    ],
  ])('POST %s is 404 and names what is missing', (path, named) => {
    const refused = match('POST', path);
    expect(refused).toMatchObject({ code: 'not_found' });
    expect(isRefusal(refused) && refused.message).toContain(`There is no ${named}`);
  });

  it.each([
    ['POST', '/v1/realtime/calls', 'Calls of the Realtime API by WebRTC and SIP are not served'],
    ['POST', '/v1/realtime/sessions', 'Ephemeral keys of the Realtime API are not issued'],
    ['POST', '/v1/realtime/client_secrets', 'Ephemeral keys of the Realtime API are not issued'],
  ])('%s %s is 404 with the reason (contract: realtime/not-served)', (method, path, reason) => {
    const refused = match(method, path);
    expect(refused).toMatchObject({ code: 'not_found' });
    expect(isRefusal(refused) && refused.message).toContain(reason);
  });

  it('has one operation for a method, path and header, each of a family that is registered', () => {
    const seen = operations.flatMap((o) =>
      o.prefixes.map((prefix) => `${o.method} /${prefix}/${o.path} ${o.spokenWith ?? ''}`),
    );
    expect(new Set(seen).size).toBe(seen.length);
    for (const { family } of operations) if (family !== 'models') expect(familyOf(family)?.id).toBe(family);
    expect(familyOf('models')).toBeNull();
  });
});

describe('three families share the addresses of files (contract: families/shared-addresses)', () => {
  it.each([
    ['GET', '/v1/files', 'content.files.list'],
    ['GET', '/v1/files/a', 'content.files.retrieve'],
    ['DELETE', '/v1/files/a', 'content.files.delete'],
    ['GET', '/v1/files/a/content', 'files.content'],
  ])('%s %s is %s with the key in the header of generate-content', (method, path, name) => {
    expect(match(method, path, { 'x-goog-api-key': 'a' })).toMatchObject({ operation: { name } });
  });

  it('under /v1beta they are those of generate-content, whatever the headers are', () => {
    const matched = match('GET', '/v1beta/files/a', { 'anthropic-version': '2023-06-01' });
    expect(matched).toMatchObject({ operation: { name: 'content.files.retrieve' } });
  });

  it.each([
    ['start', 'content.files.create'],
    ['start, upload, finalize', 'content.files.create'],
    ['upload', 'content.files.upload'],
    ['upload, finalize', 'content.files.upload'],
    ['query', 'content.files.upload'],
  ])('an upload with the command "%s" is %s', (command, name) => {
    const matched = match('POST', '/upload/v1beta/files', { 'x-goog-upload-command': command });
    expect(matched).toMatchObject({ operation: { name } });
  });

  it.each([
    ['POST', '/v1/files', 'messages.files.create', 'files.create'],
    ['GET', '/v1/files', 'messages.files.list', 'files.list'],
    ['GET', '/v1/files/a', 'messages.files.retrieve', 'files.retrieve'],
    ['DELETE', '/v1/files/a', 'messages.files.delete', 'files.delete'],
    ['GET', '/v1/files/a/content', 'messages.files.content', 'files.content'],
    ['GET', '/files/a', 'messages.files.retrieve', 'files.retrieve'],
    ['POST', '/v1/chat/completions', 'chat.create', 'chat.create'],
    ['POST', '/v1/messages/batches', 'messages.batches.create', 'messages.batches.create'],
    ['GET', '/v1/messages/batches/a/results', 'messages.batches.results', 'messages.batches.results'],
  ])('%s %s is %s with the header, and %s without', (method, path, spoken, other) => {
    const named = (headers: Record<string, string>) => {
      const matched = match(method, path, headers);
      return isRefusal(matched) ? matched.code : matched.operation.name;
    };
    expect(named({ 'anthropic-version': '2023-06-01' })).toBe(spoken);
    expect(named({})).toBe(other);
  });
});
