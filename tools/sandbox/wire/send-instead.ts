import type { Dialect } from '#tools/sandbox/dialect';
import type { Instead } from '#tools/sandbox/scenario/behaviour';
import { faultOf } from '#tools/sandbox/scenario/provider-fault';
import type { Outlet } from '#tools/sandbox/wire/outlet';

/** Sends what replaces an answer: an error, garbage, silence or a closed connection. */
export async function sendInstead(
  outlet: Outlet,
  instead: Instead,
  dialect: Dialect,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  if (instead.kind === 'silence') return outlet.sleep(Infinity);
  if (instead.kind === 'close') return outlet.fin();
  if (instead.kind === 'reset') return outlet.reset();
  const html = instead.body === 'html';
  const body = Buffer.from(bodyOf(instead, dialect));
  outlet.start(instead.status, {
    ...headers,
    'content-type': html ? 'text/html; charset=utf-8' : 'application/json',
    'content-length': String(body.length),
  });
  await outlet.write(body, null);
  await outlet.end();
}

function bodyOf(instead: Extract<Instead, { kind: 'status' }>, dialect: Dialect): string {
  if (instead.body === 'html') return '<!doctype html><title>Bad gateway</title><h1>Bad gateway</h1>\n';
  if (instead.body === 'json') return '{"id":"chatcmpl-broken","object":"chat.completion","choices":[{"ind';
  if (instead.body === 'error') return dialect.errorBody(faultOf(instead.status));
  if (dialect.invalidKeyBody) return dialect.invalidKeyBody;
  return JSON.stringify({
    code: 'Client specified an invalid argument',
    error: 'Incorrect API key provided: sk****ox. You can obtain an API key from your console.',
  });
}
