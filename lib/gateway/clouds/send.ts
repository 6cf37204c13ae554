import type { Pools } from '#lib/gateway/upstream/pools';

const CONNECT_MS = 5_000;
/** For a whole exchange with an issuer of tokens. */
const LIMIT_MS = 10_000;

export type Send = typeof globalThis.fetch;

/** Sends what a library asks for over the gateway's own connections, and so through its proxies. */
export function sendOver(pools: Pools, seen: (origin: string, date: string) => void): Send {
  return async (input, init) => {
    const request = new Request(input, init);
    const { origin, pathname, search } = new URL(request.url);
    const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
    // Tokens are fetched once in a while: a kept connection may be closed just then, and nothing would repeat it.
    const answer = await pools.fresh(origin, CONNECT_MS).request({
      method: request.method === 'POST' ? 'POST' : 'GET',
      path: `${pathname}${search}`,
      headers: { ...Object.fromEntries(request.headers), 'accept-encoding': 'identity' },
      body,
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const bytes = await answer.body.arrayBuffer();
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      if (typeof value === 'string') headers.set(name, value);
    }
    seen(origin, headers.get('date') ?? '');
    return new Response(bytes.byteLength === 0 ? null : bytes, { status: answer.statusCode, headers });
  };
}
