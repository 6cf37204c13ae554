import type { Socket } from 'node:net';
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
  misbehave(name: string, speaker: Speaker, kind: Behaviour): void;
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
    misbehave: (name, speaker, kind) => {
      const counts = { bad: 0, good: 0 };
      asked.set(name, counts);
      provider.on(name, (socket, request) => {
        const good = request.startsWith('POST /v1/good/');
        counts[good ? 'good' : 'bad'] += 1;
        give(socket, speaker, good ? null : kind, request);
      });
    },
    asked: (name) => asked.get(name) ?? { bad: 0, good: 0 },
    close: () => provider.close(),
  };
}

/** Providers of one agent, which asks one thing after the other. */
export interface Servants {
  /** By their names. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Which of them were asked since the last time, in order. */
  takeOrder(): readonly number[];
  close(): Promise<void>;
}

/** @param does what the one at this place does now, of what was asked; its `kind` null: its work. */
export async function startServants(
  names: readonly string[],
  does: (place: number) => { readonly speaker: Speaker; readonly kind: Behaviour | null },
): Promise<Servants> {
  const provider = await startRawProvider();
  let order: number[] = [];
  for (const [place, name] of names.entries()) {
    provider.on(`POST /v1/${name}/`, (socket, request) => {
      order.push(place);
      const { speaker, kind } = does(place);
      give(socket, speaker, kind, request);
    });
  }
  return {
    addresses: Object.fromEntries(names.map((name) => [name, `${provider.url}/${name}`])),
    takeOrder: () => {
      const taken = order;
      order = [];
      return taken;
    },
    close: () => provider.close(),
  };
}

/** What a provider sends, and how its connection goes on. */
type Behaviour = Pick<Kind, 'sent' | 'type' | 'ends'>;

/** Answers one request: well, or as a kind says. */
export function give(socket: Socket, speaker: Speaker, kind: Behaviour | null, request: string): void {
  const body = kind ? kind.sent(speaker, dialectOf(speaker)) : wellAnswered(speaker, markIn(request));
  socket.write(headOf(speaker, kind?.type));
  const last = kind?.ends === 'torn' ? '' : lastChunk;
  const bytes = Buffer.concat([body === '' ? Buffer.of() : chunkOf(body), Buffer.from(last)]);
  // Once they have left: a provider that hangs up has sent what it sent.
  socket.write(bytes, () => {
    if (last === '') socket.destroy();
  });
}

/** The head of a 200 in chunks. @param type absent: of what was asked for. */
export function headOf(
  { framing }: Speaker,
  type = framing === 'events' ? 'text/event-stream' : 'application/json',
): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`;
}

/** The mark of a prompt. */
function markIn(request: string): string {
  return /Say ([0-9a-f-]{36})/.exec(request)?.[1] ?? '';
}
