/** A body of `bytes` that is as expensive to read as possible. */
export interface Kind {
  readonly name: string;
  readonly contentType: string;
  make(bytes: number, model: string, field: string): Buffer;
}

const json = 'application/json';

/** `{"model":…,"<field>":[<one>,<one>,…]}` of exactly `bytes`. */
function listOf(one: string): Kind['make'] {
  return (bytes, model, field) => {
    const start = `{"model":${JSON.stringify(model)},${JSON.stringify(field)}:[`;
    const times = Math.floor((bytes - start.length - 3) / (one.length + 1));
    const text = `${start}${`${one},`.repeat(times)}1]}`;
    return Buffer.from(text.padEnd(bytes));
  };
}

const boundary = 'hostile-body';

export const kinds: readonly Kind[] = [
  { name: 'empty objects', contentType: json, make: listOf('{}') },
  {
    name: 'one-letter keys',
    contentType: json,
    make: (bytes, model, field) => {
      const start = `{"model":${JSON.stringify(model)},${JSON.stringify(field)}:[{`;
      const times = Math.floor((bytes - start.length - 12) / 6);
      return Buffer.from(`${start}${'"a":1,'.repeat(times)}"b":2}]}`.padEnd(bytes));
    },
  },
  { name: 'numbers', contentType: json, make: listOf('1') },
  { name: 'nested arrays', contentType: json, make: listOf(`${'['.repeat(200)}${']'.repeat(200)}`) },
  {
    name: 'one long string',
    contentType: json,
    make: (bytes, model, field) => {
      const start = `{"model":${JSON.stringify(model)},${JSON.stringify(field)}:"`;
      return Buffer.concat([
        Buffer.from(start),
        Buffer.alloc(bytes - start.length - 2, 'QUJD'),
        Buffer.from('"}'),
      ]);
    },
  },
  {
    name: 'objects with an id',
    contentType: json,
    make: listOf('{"id":"a","type":"item_reference","audio":{"id":"a"}}'),
  },
  {
    name: '100,000 parts',
    contentType: `multipart/form-data; boundary=${boundary}`,
    make: (bytes, model) => {
      const part = (name: string, value: string) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
      const value = 'x'.repeat(Math.floor(bytes / 100_000) - part('x', '').length);
      const text = `${part('model', model)}${part('x', value).repeat(99_999)}--${boundary}--\r\n`;
      return Buffer.from(text);
    },
  },
];

/** A path of each operation that takes a body, and a field that its families read. */
export const paths: readonly { readonly path: string; readonly model: string; readonly field: string }[] = [
  { path: '/v1/chat/completions', model: 'bench/text', field: 'messages' },
  { path: '/v1/responses', model: 'bench/text', field: 'input' },
  { path: '/v1/messages', model: 'bench/text', field: 'messages' },
  { path: '/v1/messages/count_tokens', model: 'bench/text', field: 'tools' },
  { path: '/v1beta/models/bench/text:generateContent', model: 'bench/text', field: 'contents' },
  { path: '/v1beta/models/bench/text:countTokens', model: 'bench/text', field: 'contents' },
  { path: '/v1beta/models/bench/film:predictLongRunning', model: 'bench/film', field: 'instances' },
  { path: '/v1/images/generations', model: 'bench/picture', field: 'prompt' },
  { path: '/v1/images/edits', model: 'bench/picture', field: 'images' },
  { path: '/v1/videos', model: 'bench/film', field: 'prompt' },
];
