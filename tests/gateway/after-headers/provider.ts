import { dialectOf, wellAnswered } from '#tests/gateway/after-headers/dialects';
import type { Kind } from '#tests/gateway/after-headers/kinds';
import type { Speaker } from '#tests/gateway/contract/speaker';
import {
  chunkOf,
  lastChunk,
  type RawProvider,
  startRawProvider,
} from '#tests/gateway/strange-answers/raw-provider';

/** Two providers at one port: a bad one, and one that answers well. */
export interface Pair {
  readonly bad: string;
  readonly good: string;
  /** What the bad one does with requests that name it. */
  misbehave(name: string, speaker: Speaker, kind: Pick<Kind, 'sent' | 'type' | 'ends'>): void;
  /** How many requests that name it each of both got. */
  asked(name: string): { readonly bad: number; readonly good: number };
  close(): Promise<void>;
}

export async function startPair(): Promise<Pair> {
  const provider: RawProvider = await startRawProvider();
  const asked = new Map<string, { bad: number; good: number }>();
  return {
    bad: `${provider.url}/bad`,
    good: `${provider.url}/good`,
    misbehave: (name, speaker, { sent, type, ends }) => {
      const counts = { bad: 0, good: 0 };
      asked.set(name, counts);
      const usual = speaker.framing === 'events' ? 'text/event-stream' : 'application/json';
      const head = (content: string) =>
        `HTTP/1.1 200 OK\r\ncontent-type: ${content}\r\ntransfer-encoding: chunked\r\n\r\n`;
      provider.on(name, (socket, request) => {
        const good = request.startsWith('POST /v1/good/');
        counts[good ? 'good' : 'bad'] += 1;
        const body = good ? wellAnswered(speaker, markIn(request)) : sent(speaker, dialectOf(speaker));
        socket.write(head(good ? usual : (type ?? usual)));
        const last = good || ends === 'properly' ? lastChunk : '';
        const bytes = Buffer.concat([body === '' ? Buffer.of() : chunkOf(body), Buffer.from(last)]);
        // Once they have left: a provider that hangs up has sent what it sent.
        socket.write(bytes, () => {
          if (last === '') socket.destroy();
        });
      });
    },
    asked: (name) => asked.get(name) ?? { bad: 0, good: 0 },
    close: () => provider.close(),
  };
}

/** The mark of a prompt. */
function markIn(request: string): string {
  return /Say ([0-9a-f-]{36})/.exec(request)?.[1] ?? '';
}
