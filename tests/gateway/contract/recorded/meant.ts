import { type Usage, type UsageSource, usageOf } from '#lib/core/metering/usage';
import { audioBeside, besides, brokeOff } from '#tests/gateway/contract/recorded/exceptions';
import type { Question } from '#tests/gateway/contract/recorded/question';
import type { Exchange } from '#tests/gateway/contract/recorded/recording';
import { record } from '#tools/sandbox/content/tool-call';

/** What the call log must say of a recorded answer. */
export interface Meant {
  readonly usage: Usage;
  /** What of it costs. */
  readonly charged: Usage;
  readonly source: UsageSource;
  readonly end: 'completed' | 'upstream_error';
}

export function meantBy(exchange: Exchange, asked: Question): Meant {
  const { file, norm } = exchange;
  const broke = brokeOff[file];
  const end = broke || isTheirs(exchange) ? 'upstream_error' : 'completed';
  const pictures = exchange.family === 'images' ? picturesIn(exchange) : 0;
  const counts = asked.operation.endsWith('.count') || asked.operation.endsWith('.count_tokens');
  if (exchange.answer.status >= 400 || counts || broke === 'none') {
    return { usage: usageOf({}), charged: usageOf({}), source: 'none', end };
  }
  if (norm || pictures > 0) {
    const usage = { ...usageIn(exchange), images: pictures, ...besides[file] };
    // Pictures are paid by the token or by the piece, never by both.
    const charged = exchange.family === 'images' && usage.output > 0 ? { ...usage, images: 0 } : usage;
    return { usage, charged, source: 'reported', end };
  }
  const output = tokens(writtenIn(exchange.body.toString()));
  const usage = usageOf({ input: tokens(Buffer.byteLength(asked.body)), output });
  return { usage, charged: usage, source: 'estimated', end };
}

/** An error that the client of the recording did not cause: credential, quota, rate, or a model that is gone. */
function isTheirs({ answer, body }: Exchange): boolean {
  if (answer.status < 400) return false;
  const theirs = answer.status >= 500 || [401, 402, 403, 404, 429].includes(answer.status);
  return theirs || /model_not_found|API_KEY_INVALID/.test(body.toString());
}

/** The index's figures in our classes. */
function usageIn({ norm, usage, file, family }: Exchange): Usage {
  const of = (name: string) => norm?.[name] ?? 0;
  if (family === 'images') {
    const imageOutput = norm?.image_out ?? of('output');
    return usageOf({
      input: of('text_in') + of('image_in'),
      imageInput: of('image_in'),
      output: of('output'),
      imageOutput,
    });
  }
  const beside = audioBeside.has(file) ? of('audio_in') : 0;
  // Dialects that hide reasoning from the completion show it in the total.
  const total = family.startsWith('chat') ? Number(usage?.total_tokens ?? 0) : 0;
  return usageOf({
    input: of('input_uncached') + beside,
    cachedInput: of('cache_read'),
    cacheWrite5m: of('cache_write') + of('cache_write_5m'),
    cacheWrite1h: of('cache_write_1h'),
    output: Math.max(of('output'), total - of('input_total') - beside),
    reasoning: of('reasoning'),
    audioInput: of('audio_in'),
    audioOutput: of('audio_out'),
    imageInput: of('image_in'),
    webSearches: of('web_search_requests'),
  });
}

function picturesIn({ stream, body }: Exchange): number {
  if (stream) return body.toString().match(/^event: image_generation\.completed/gm)?.length ?? 0;
  const { data } = record(JSON.parse(body.toString()));
  return Array.isArray(data) ? data.length : 0;
}

function tokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** UTF-8 bytes of the text, reasoning and tool calls of chat chunks. */
function writtenIn(stream: string): number {
  const values = stream.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []));
  return values.reduce((sum, value) => {
    const { choices } = record(JSON.parse(value));
    const deltas = Array.isArray(choices) ? choices.map((choice) => record(record(choice).delta)) : [];
    return sum + deltas.reduce((all, delta) => all + bytesOf(delta), 0);
  }, 0);
}

function bytesOf({ content, reasoning, tool_calls }: Readonly<Record<string, unknown>>): number {
  const calls = Array.isArray(tool_calls) ? tool_calls.map((call) => record(record(call).function)) : [];
  const texts = [content, reasoning, ...calls.flatMap((call) => [call.name, call.arguments])];
  return texts.reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? Buffer.byteLength(text) : 0),
    0,
  );
}

/** Without the events that only tell usage: what is left to a client that did not ask for it. */
export function withoutUsageEvent(body: Buffer): Buffer {
  const isUsage = (event: string) => {
    const data = event.trim().replace(/^data: ?/, '');
    if (!data.startsWith('{')) return false;
    const told = record(JSON.parse(data));
    const { choices } = told;
    return Array.isArray(choices) && choices.length === 0 && Boolean(told.usage);
  };
  const events = body.toString().split(/(?<=\r\n\r\n|\n\n)/);
  return Buffer.from(events.filter((event) => !isUsage(event)).join(''));
}
