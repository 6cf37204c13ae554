import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RunningAnswers } from '#tools/sandbox/running-answers';
import { faults } from '#tools/sandbox/scenario/faults';
import type { TruthLine, TruthLog } from '#tools/sandbox/truth-log';

const longestWaitMs = 60_000;

interface Settings {
  readonly truth: TruthLog;
  readonly key: string | null;
  readonly running: RunningAnswers;
}

/**
 * The sandbox's own addresses, besides the provider's:
 * `GET /_log?since=SEQ&event=begin|end&id=REQUEST&model=NAME&text=WORDS&wait=MS` → `{ next, lines }`,
 * where `text` is in the request's path or body, and `next` is the `since` of the next read; with `wait`,
 * it answers as soon as there is a line.
 * `POST /_release?text=WORDS` → `{ released }`: continues answers that stall or wait before their first byte.
 * `GET /_faults` → what each fault does.
 */
export function serveTruth({ truth, key, running }: Settings) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://sandbox');
    if (key !== null && request.headers.authorization !== `Bearer ${key}`) return send(response, 401, {});
    if (url.pathname === '/_faults') return send(response, 200, aboutFaults());
    const asked = (name: string) => url.searchParams.get(name);
    if (url.pathname === '/_release' && request.method === 'POST') {
      return send(response, 200, { released: running.release(asked('text') ?? '') });
    }
    if (url.pathname !== '/_log') return send(response, 404, {});
    const since = Number(asked('since') ?? 0) || 0;
    const waitMs = Math.min(Number(asked('wait') ?? 0) || 0, longestWaitMs);
    const lines = await truth.read(since, fitting(asked), waitMs, asked('id'));
    send(response, 200, { next: lines.at(-1)?.seq ?? since, lines });
  };
}

/** Reads the parameters once, not for each of thousands of lines. */
function fitting(asked: (name: string) => string | null): (line: TruthLine) => boolean {
  const event = asked('event');
  const text = asked('text');
  const model = asked('model');
  return (line) =>
    (event === null || line.event === event) &&
    (text === null || contains(line, text)) &&
    (model === null || (line.event === 'end' && line.model === model));
}

function contains(line: TruthLine, text: string): boolean {
  return line.event === 'begin' && (line.path.includes(text) || line.body?.includes(text) === true);
}

function aboutFaults(): Record<string, string> {
  const about = Object.entries(faults).map(([name, fault]) => [`fault/${name}`, fault.about]);
  return {
    'fault/status-CODE': '400 to 599 in the provider’s shape; ?retry_after=',
    ...Object.fromEntries(about),
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
