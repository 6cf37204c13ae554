import { expect } from 'vitest';
import type { Speaker } from '#tests/gateway/contract/speaker';
import { headerOf, type Wire } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

/** What may stand in the head of an answer: an allow-list, as the gateway's own is. */
const allowedHeaders = new Set(
  `content-type content-length transfer-encoding content-encoding cache-control connection keep-alive date vary
  retry-after retry-after-ms x-should-retry x-accel-buffering content-disposition
  openai-processing-ms openai-version openai-model x-gemini-service-tier
  x-request-id request-id x-upstream-request-id x-answered-model x-answered-provider x-attempts
  x-ratelimit-limit-requests x-ratelimit-remaining-requests x-ratelimit-limit-tokens x-ratelimit-remaining-tokens`.split(
    /\s+/,
  ),
);

/** No header that is not known to be harmless, and no trace of the operator's credential. */
export function expectAllowedHead(answer: Wire, secret: string): void {
  const names = answer.headers.map(([name]) => name);
  expect(names.filter((name) => !allowedHeaders.has(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  expect(JSON.stringify(answer.headers)).not.toContain(secret);
}

/** What was sent before the break, an unfinished event ended by a blank line, then the family's own end. */
export function expectBroken(speaker: Speaker, got: string, sent: string): void {
  const { frame } = speaker;
  if (frame === null) {
    expect(got).toBe(sent);
    return;
  }
  const at = got.lastIndexOf(frame.start);
  expect(at, 'a break is told in the stream').toBeGreaterThanOrEqual(0);
  const before = got.slice(0, at);
  expect(before === sent ? before : before.slice(0, -2)).toBe(sent);
  expect(before === '' || before.endsWith('\n\n')).toBe(true);
  const own = got.slice(at);
  expect(own.endsWith('\n\n')).toBe(true);
  const told = [...own.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => record(JSON.parse(data)));
  expect(told.map((one) => Object.keys(one))).toEqual([frame.keys, ...(frame.last ? [frame.last] : [])]);
  // Where events are numbered, ours are the next ones, behind an unfinished one too.
  const events = before.match(/^event: /gm)?.length ?? 0;
  for (const [at, one] of told.entries()) {
    const error = record(one.error ?? record(one.response).error);
    expect(Object.keys(error)).toEqual(['message', 'code']);
    expect(error.code).toBe('upstream_request_failed');
    if (frame.keys.includes('sequence_number')) expect(one.sequence_number).toBe(events + at);
  }
}

/** UTF-8 bytes of generated text as a client can read them; of a body that cannot be read, all of it. */
export function outputBytesOf(speaker: Speaker, answer: Wire): number {
  const text = answer.body.toString();
  const events = headerOf(answer, 'content-type')?.startsWith('text/event-stream');
  const values = events
    ? text.split(/\r\n|\r|\n/).flatMap((line) => (line.startsWith('data: ') ? parsed(line.slice(6)) : []))
    : parsed(text).flat();
  if (values.length === 0 && !events) return answer.body.length;
  return values.reduce<number>((sum, value) => sum + speaker.written(record(value)), 0);
}

/** The one value of a JSON text; nothing of any other text. */
function parsed(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}
