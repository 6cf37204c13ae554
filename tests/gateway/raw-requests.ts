import type { ErrorCode } from '#lib/core/errors';

/** A request as bytes that no client library would send. */
export interface RawRequest {
  readonly name: string;
  /** latin1; KEY stands for a key of the gateway. */
  readonly text: string;
  /** What it is answered with; null: it is served. */
  readonly code: ErrorCode | null;
}

const head = 'Host: gateway.test\r\nAuthorization: Bearer KEY\r\n';
const chat = `POST /v1/chat/completions HTTP/1.1\r\n${head}`;
const get = (target: string, headers = head, version = '1.1') =>
  `GET ${target} HTTP/${version}\r\n${headers}\r\n`;
const as = (method: string, target = '/v1/models') => `${method} ${target} HTTP/1.1\r\n${head}\r\n`;
const lined = (line: string) => get('/v1/models', `${head}${line}\r\n`);

const refusedBy = (code: ErrorCode | null, requests: Readonly<Record<string, string>>): RawRequest[] =>
  Object.entries(requests).map(([name, text]) => ({ name, text, code }));

/** Bytes that Node's parser refuses: no host can show them to the pipeline. */
export const badFraming: readonly RawRequest[] = refusedBy('invalid_body', {
  'a negative Content-Length': `${chat}Content-Length: -5\r\n\r\n{"mod`,
  'a Content-Length list': `${chat}Content-Length: 5, 5\r\n\r\n{"mod`,
  'two Content-Lengths': `${chat}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{"mod`,
  'a Content-Length in words': `${chat}Content-Length: five\r\n\r\n{"mod`,
  'a Content-Length with a plus': `${chat}Content-Length: +5\r\n\r\n{"mod`,
  'a Content-Length beyond all numbers': `${chat}Content-Length: 99999999999999999999999\r\n\r\n{"mod`,
  'Content-Length with Transfer-Encoding': `${chat}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'Transfer-Encoding gzip': `${chat}Transfer-Encoding: gzip\r\n\r\nabc`,
  'Transfer-Encoding chunked before another': `${chat}Transfer-Encoding: chunked, identity\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  'a chunk size that is none': `${chat}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n`,
  'an unknown method': as('FOO'),
  'a method in lower case': as('get'),
  'a space in the target': as('GET', '/v1/mod els'),
  'headers over 32 KiB': lined(`X-Big: ${'a'.repeat(33_000)}`),
  'headers of 300 KB': lined(`X-Big: ${'a'.repeat(300_000)}`),
  'a target over 32 KiB': get(`/v1/models?x=${'a'.repeat(40_000)}`),
  'a header without a colon': lined('Nonsense'),
  'a space before the colon': lined('A : b'),
  'a folded header': lined('A: b\r\n c'),
  'a bare line feed in a header': lined('A: b\nC: d'),
  'a NUL in a header': lined('A: b\0c'),
  'HTTP/1.2': get('/v1/models', head, '1.2'),
  'HTTP/2 with prior knowledge': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  nonsense: 'asdf\r\n\r\n',
});

/** The framing breaks inside a body, which a route may be reading. */
export const brokenBodies: readonly RawRequest[] = refusedBy('invalid_body', {
  'a chunk longer than it says': `${chat}Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n`,
});

/** What Node answers in place of a handler unless it is told otherwise. */
export const nodeAnswers: readonly RawRequest[] = refusedBy(null, {
  'no Host': get('/v1/models', 'Authorization: Bearer KEY\r\n'),
  'an expectation of its own': lined('Expect: tea'),
  'an upgrade': lined('Connection: Upgrade\r\nUpgrade: websocket'),
});

export const connect: readonly RawRequest[] = refusedBy('method_not_allowed', {
  CONNECT: as('CONNECT', 'example.com:443'),
});

/** Methods that Next does not know. */
export const rareMethods: readonly RawRequest[] = refusedBy('method_not_allowed', {
  TRACE: as('TRACE'),
  PROPFIND: as('PROPFIND'),
  'TRACE on a path with a body': as('TRACE', '/v1/chat/completions'),
});

/** Escapes in the path that decode to nothing. */
export const badEscapes: readonly RawRequest[] = refusedBy('invalid_body', {
  '%zz': get('/v1/%zz'),
  '%zz behind models': get('/v1/models/%zz'),
  'a lone %': get('/v1/models/%'),
  'bytes that are no UTF-8': get('/v1/models/%ff'),
});

/** Targets that Next redirects or rewrites before a route sees them. */
export const rewrittenTargets: readonly RawRequest[] = [
  ...refusedBy(null, {
    'a doubled slash in front': get('//v1/models'),
    'a doubled slash inside': get('/v1//models'),
    'doubled slashes without a version': get('//models//sandbox/echo'),
  }),
  ...refusedBy('not_found', { 'a doubled slash at the end': get('/v1/models//') }),
  ...refusedBy('invalid_body', {
    'dot segments': get('/v1/../v1/models'),
    'a dot segment': get('/v1/./models'),
    'dot segments in front': get('/../v1/models'),
    'escaped dot segments': get('/v1/%2e%2e/v1/models'),
    'a way out to the console': get('/v1/../sign-in'),
    'a backslash': get('/v1\\models'),
    'absolute form': get('http://gateway.test/v1/models'),
    'absolute form of another host': get('http://other.test/v1/models'),
    'an asterisk': as('OPTIONS', '*'),
  }),
];

/** Outside the versioned prefixes, where a host's Next adds the console's security headers to every answer. */
export const unversioned: readonly RawRequest[] = [
  ...refusedBy('not_found', { 'an address under /api that is none': get('/api/nothing') }),
  ...refusedBy(null, {
    'no version': get('/models'),
    'no version and a path parameter': get('/models/sandbox/echo'),
  }),
];

/** What every host hands to its routes as it came. */
export const plain: readonly RawRequest[] = [
  ...refusedBy('not_found', {
    'a slash at the end': get('/v1/models/'),
    'an operation that is none': as('POST', '/v1/responses/compress'),
  }),
  ...refusedBy('invalid_body', {
    'an escaped NUL': get('/v1/models/%00'),
    'an encoded transfer': `${chat}Transfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    'no body at all': `${chat}\r\n`,
    'a body shorter than its JSON': `${chat}Content-Length: 5\r\nConnection: close\r\n\r\n{"mod`,
  }),
  ...refusedBy('method_not_allowed', {
    HEAD: as('HEAD'),
    OPTIONS: as('OPTIONS'),
    PATCH: as('PATCH'),
    'POST with a body': `POST /v1/models HTTP/1.1\r\n${head}Content-Length: 3\r\n\r\nabc`,
  }),
  ...refusedBy(null, {
    'an escaped letter': get('/v1/%6dodels'),
    'a version twice': get('/v1/v1/models'),
    'a strange query': get('/v1/models?x=%zz&&=&key'),
    'two Hosts': lined('Host: other.test'),
    'a Host that is none': get('/v1/models', 'Host: a b/c\r\nAuthorization: Bearer KEY\r\n'),
    'an open bracket as Host': get('/v1/models', 'Host: [::\r\nAuthorization: Bearer KEY\r\n'),
    'HTTP/1.0': get('/v1/models', 'Authorization: Bearer KEY\r\n', '1.0'),
    'header bytes beyond ASCII': lined('User-Agent: caf\xe9 \xff'),
    '200 headers': lined(Array.from({ length: 200 }, (_, n) => `X-${n}: ${n}`).join('\r\n')),
  }),
];
