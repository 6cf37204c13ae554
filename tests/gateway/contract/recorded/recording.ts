import { existsSync, readFileSync } from 'node:fs';
import { statuses } from '#tests/gateway/contract/recorded/exceptions';
import { folder, type Recording, recordings } from '#tests/unit/relay/streams';
import { record } from '#tools/sandbox/content/tool-call';

/** A recorded answer as its provider is to give it once more, and what it was an answer to. */
export interface Exchange extends Recording {
  /** Stands in `user-agent`: the replaying provider answers by it. */
  readonly mark: string;
  readonly answer: Replayed;
  /** Of the request, where it was recorded. */
  readonly query: string;
  readonly asked: string | null;
}

export interface Replayed {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer;
}

const families = [
  'chat',
  'chat-compat',
  'responses',
  'responses-compat',
  'messages',
  'generateContent',
  'generateContent-vertex',
  'images',
  'videos',
  'models',
];

/** Belong to one connection or one encoding of the body. */
const ofTheConnection =
  /^(connection|keep-alive|transfer-encoding|content-length|content-encoding|date|trailer|upgrade)$/;

/** Every recording of the index; none where the folder is absent. */
export function readExchanges(): readonly Exchange[] {
  return recordings(families).map((recording, at) => {
    const { file, stream, status, body } = recording;
    const about = metaOf(file);
    const told = Object.entries(record(about.response_headers)).flatMap(([name, value]) =>
      ofTheConnection.test(name.toLowerCase()) ? [] : [[name.toLowerCase(), headerValue(value)] as const],
    );
    const headers = {
      'content-type': stream ? 'text/event-stream' : 'application/json',
      ...Object.fromEntries(told),
    };
    return {
      ...recording,
      mark: `recorded/${at + 1}`,
      answer: { status: status ?? statuses[file] ?? 200, headers, body },
      query: typeof about.query === 'string' ? about.query : '',
      asked: askedIn(file, about.request_body_file),
    };
  });
}

/** An answer that is not recorded. */
export function asJson(status: number, value: unknown): Replayed {
  const body = Buffer.from(JSON.stringify(value));
  return { status, headers: { 'content-type': 'application/json' }, body };
}

/** How many lines the index has; 0 where the folder is absent. */
export function indexLines(): number {
  const index = new URL('index.jsonl', folder);
  return existsSync(index) ? readFileSync(index, 'utf8').trimEnd().split('\n').length : 0;
}

function metaOf(file: string): Readonly<Record<string, unknown>> {
  const beside = [`${file}.meta.json`, file.replace(/\.resp\.(json|sse|bin)$/, '.meta.json')];
  const found = beside.map((name) => new URL(encodeURI(name), folder)).find((url) => existsSync(url));
  return found ? record(JSON.parse(readFileSync(found, 'utf8'))) : {};
}

function askedIn(file: string, name: unknown): string | null {
  if (typeof name !== 'string') return null;
  const beside = new URL(encodeURI(file.replace(/[^/]+$/, name)), folder);
  return existsSync(beside) ? readFileSync(beside, 'utf8') : null;
}

function headerValue(value: unknown): string | readonly string[] {
  return Array.isArray(value) ? value.map(String) : String(value);
}
