import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Replayed } from '#tests/gateway/contract/recorded/recording';

/** What came up of one request. */
export interface Seen {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A provider over real sockets that answers with what was recorded, byte for byte. */
export interface ReplayProvider {
  /** Its origin. */
  readonly url: string;
  /** What came with that `user-agent`, in order. */
  seen(mark: string): readonly Seen[];
  close(): Promise<void>;
}

/** Odd, so that no line end, character or event is spared. */
const pieceBytes = [1, 17, 3, 251, 2, 1_021, 5, 89] as const;

/** @param replyTo null: 404. What is asked without a known mark is asked by the gateway itself: its polls. */
export async function startReplayProvider(
  replyTo: (mark: string, target: string) => Replayed | null,
): Promise<ReplayProvider> {
  const requests = new Map<string, Seen[]>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { method = '', url: target = '', headers } = request;
    const mark = headers['user-agent'] ?? '';
    const seen = { method, target, headers, body: Buffer.concat(parts).toString() };
    requests.set(mark, [...(requests.get(mark) ?? []), seen]);
    await reply(response, replyTo(mark, target));
  };
  // The gateway closes connections, never the other side: it may just be writing there.
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    seen: (mark) => requests.get(mark) ?? [],
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Every piece is written by itself, without waiting for more. */
async function reply(response: ServerResponse, replayed: Replayed | null): Promise<void> {
  if (!replayed) {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    return;
  }
  const { status, headers, body } = replayed;
  const own = Object.entries(headers).map(([name, value]) => [name, mutable(value)] as const);
  response.socket?.setNoDelay(true);
  response.writeHead(status, Object.fromEntries(own));
  // Some two hundred pieces at most.
  const times = Math.ceil(body.length / 35_000);
  for (let at = 0, round = 0; at < body.length; round += 1) {
    const size = (pieceBytes[round % pieceBytes.length] ?? 1) * times;
    const drained = response.write(body.subarray(at, at + size));
    at += size;
    if (!drained && !response.destroyed)
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
    await nextTurn();
  }
  response.end();
}

function mutable(value: string | readonly string[]): string | string[] {
  return typeof value === 'string' ? value : [...value];
}
