import { existsSync, readFileSync } from 'node:fs';

/** Streams for the tests of the relay and the meter: own samples, and recorded ones where they are at hand. */

const chunk = (fields: object) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  ...fields,
});
const delta = (content: string) =>
  chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }], usage: null });
const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

/** The event that the filter removes: it merely tells usage. */
export const usageEvent = `data: ${JSON.stringify(chunk({ choices: [], usage, service_tier: 'default', obfuscation: 'x' }))}\n\n`;

/** Before and after the usage event: comments, an empty first chunk with filters, umlauts, moderation. */
export const before = [
  ': waiting\n\n',
  `data: ${JSON.stringify(chunk({ choices: [], prompt_filter_results: [] }))}\n\n`,
  `data: ${JSON.stringify(delta('grüße 👋 "choices":[]'))}\n\n`,
  `event: message\nid: 7\ndata: ${JSON.stringify(delta('b'))}\n\n`,
  `data:{"choices":\ndata: [], "usage":null}\n\n`,
  `data: ${JSON.stringify(chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null }))}\n\n`,
].join('');
export const after = [
  `data: ${JSON.stringify(chunk({ choices: [], moderation: { flagged: false }, usage: null }))}\n\n`,
  'data: [DONE]\n\n',
].join('');

/** The same stream with another line end. */
export function withLineEnd(stream: string, lineEnd: string): Buffer {
  return Buffer.from(stream.replace(/\r\n|\r|\n/g, lineEnd));
}

export const lineEnds = [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
] as const;

/** Every way to cut a stream in two, and one byte at a time; of a long one, cuts at a stride. */
export function* cuts(
  stream: Uint8Array,
  stride = stream.length <= 2_500 ? 1 : Math.floor(stream.length / 400),
): Generator<readonly Uint8Array[]> {
  for (let at = 0; at <= stream.length; at += stride) yield [stream.subarray(0, at), stream.subarray(at)];
  yield Array.from({ length: stream.length }, (_, i) => stream.subarray(i, i + 1));
}

export const folder = new URL('../../../../shared/fixtures/', import.meta.url);

/** One recorded answer of a provider. */
export interface Recording {
  readonly file: string;
  readonly family: string;
  readonly stream: boolean;
  readonly status: number | null;
  readonly service_tier: string | null;
  /** As it was asked for at the provider; null: not recorded. */
  readonly path: string | null;
  /** As the provider told it. */
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly norm: Readonly<Record<string, number>> | null;
  readonly body: Buffer;
}

/** Recorded answers of some families, of chat by default; none where the folder is absent. */
export function recordings(families: readonly string[] = ['chat', 'chat-compat']): readonly Recording[] {
  const index = new URL('index.jsonl', folder);
  if (!existsSync(index)) return [];
  return readFileSync(index, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter(({ family }) => families.includes(family))
    .map((entry) => ({ ...entry, body: framed(entry.file) }));
}

/** Chunk lists hold one payload a line: the framing is put back. */
function framed(file: string): Buffer {
  const raw = readFileSync(new URL(file, folder));
  if (!file.endsWith('.chunks.txt')) return raw;
  const lines = raw.toString().split('\n');
  return Buffer.from(
    lines
      .filter((line) => line.trim() !== '')
      .map((line) => `data: ${line}\n\n`)
      .join(''),
  );
}
