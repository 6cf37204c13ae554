import { describe, expect, it } from 'vitest';
import { operations } from '#lib/core/families/index';
import { queryToProvider } from '#lib/core/families/query';

/** What goes up of a query that holds every name that any operation lets pass, and others. */
const everything =
  'alt=sse&%24alt=json;enum-encoding=int&beta=true&include=a&include[]=b%20c&include%5B%5D=d&starting_after=3' +
  '&stream=true&include_obfuscation=false&after=x&before_id=y&limit=2&order=asc&variant=thumbnail' +
  '&updateMask=ttl&fields=choices&%24fields=choices&Alt=json&key=secret&api-version=1&__proto__=1&constructor=2&&=&x';

const passed = (name: string, query: string) => {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new Error(`there is no operation ${name}`);
  return queryToProvider(query, operation.query);
};

describe('the query that travels upstream (contract: body/query)', () => {
  const written = 'alt=sse&%24alt=json;enum-encoding=int';
  const included = 'include=a&include[]=b%20c&include%5B%5D=d';
  const due: Readonly<Record<string, string>> = {
    'chat.messages': 'after=x&limit=2&order=asc',
    'conversations.items.create': included,
    'conversations.items.list': `${included}&after=x&limit=2&order=asc`,
    'conversations.items.retrieve': included,
    'messages.create': 'beta=true',
    'messages.count_tokens': 'beta=true',
    'messages.batches.create': 'beta=true',
    'messages.batches.list': 'beta=true',
    'messages.batches.retrieve': 'beta=true',
    'messages.batches.cancel': 'beta=true',
    'messages.batches.delete': 'beta=true',
    'messages.batches.results': 'beta=true',
    'messages.files.create': 'beta=true',
    'messages.files.list': 'beta=true',
    'messages.files.retrieve': 'beta=true',
    'messages.files.delete': 'beta=true',
    'messages.files.content': 'beta=true',
    'responses.retrieve': `${included}&starting_after=3&stream=true&include_obfuscation=false`,
    'responses.input_items': `${included}&after=x&before_id=y&limit=2&order=asc`,
    'videos.content': 'variant=thumbnail',
    'content.generate': written,
    'content.stream': written,
    'content.count': written,
    'content.embed': written,
    'content.embed_batch': written,
    'content.predictLongRunning': written,
    'content.model_operation': written,
    'content.operation': written,
    'content.file': '',
    'content.caches.update': 'updateMask=ttl',
    'content.files.list': written,
    'content.files.retrieve': written,
    'content.files.delete': written,
  };

  it.each(operations.map(({ name }) => name))(
    'of %s has the names that its family lists, byte for byte',
    (name) => {
      expect(passed(name, everything)).toBe(due[name] ?? '');
    },
  );

  it.each([
    ['alt=proto', ''],
    ['alt=media', ''],
    ['alt=sse;$fields=candidates', ''],
    ['alt=sse&alt=proto', 'alt=sse'],
    ['alt=', ''],
  ])('of generate-content asks for nothing that hides what it used: %s', (query, then) => {
    expect(passed('content.generate', query)).toBe(then);
  });

  it.each([
    ['alt=media', 'alt=media'],
    ['%24alt=media&fields=a', '%24alt=media'],
    ['alt=media;x=1', ''],
  ])('of a file asks for its bytes: %s', (query, then) => {
    expect(passed('content.file', query)).toBe(then);
  });
});
