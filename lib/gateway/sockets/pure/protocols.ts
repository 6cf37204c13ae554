import type { HeaderBag } from '#lib/gateway/upstream/headers';

type Headers = Readonly<Record<string, string | undefined>>;

/** How a browser, which can set no header, sends its key, and asks for the first version of the API. */
const keyPrefix = 'openai-insecure-api-key.';
const betaProtocol = 'openai-beta.realtime-v1';

/** Those that are protocols: the others carry a key, an account or a version, and are answered by no server. */
export function offeredProtocols(offered: Iterable<string>): readonly string[] {
  return [...offered].filter((one) => !/^openai-/.test(one));
}

/**
 * The headers of a session's calls: what a browser puts into `sec-websocket-protocol` as the headers that other clients
 * send (contract: realtime/handshake); the header keeps the protocols that a provider may choose of.
 * @param handshake all headers of the handshake.
 */
export function protocolHeaders(calls: Headers, handshake: HeaderBag): Headers {
  const told = handshake['sec-websocket-protocol'];
  if (typeof told !== 'string') return calls;
  const offered = told.split(',').map((one) => one.trim());
  const key = offered.find((one) => one.startsWith(keyPrefix))?.slice(keyPrefix.length);
  const protocols = offeredProtocols(offered).join(', ');
  return {
    ...calls,
    ...(key && calls.authorization === undefined ? { authorization: `Bearer ${key}` } : {}),
    ...(offered.includes(betaProtocol) && calls['openai-beta'] === undefined
      ? { 'openai-beta': 'realtime=v1' }
      : {}),
    ...(protocols === '' ? {} : { 'sec-websocket-protocol': protocols }),
  };
}
