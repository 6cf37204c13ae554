import { pipeline, type Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import { mostTableBytes, NoTable } from '#lib/control/price-tables/pure/read-table';
import { whyUnreachable } from '#lib/control/providers/unreachable';
import { isPrivateHost } from '#lib/gateway/upstream/address-guard';
import { decoderOf } from '#lib/gateway/upstream/decode';
import { readAtMost } from '#lib/platform/read-at-most';

/** For the whole table, redirects included. */
const limitMs = 60_000;
const connectMs = 10_000;
const mostRedirects = 3;

/** How tables are reached; tests have their own ways. */
export interface TableReach {
  /** Connects to public addresses only. */
  dispatcher(origin: string, connectMs: number): Dispatcher;
  isPrivate?(hostname: string): Promise<boolean>;
  readonly limitMs?: number;
  readonly mostBytes?: number;
}

/**
 * Reads a table from the public internet: https only, within limits of time, size and redirects, each of which is checked
 * like the first address (contract: control-plane/price-tables).
 * @throws NoTable with a message that follows the address.
 */
export async function fetchTable(address: string, reach: TableReach): Promise<string> {
  const most = reach.mostBytes ?? mostTableBytes;
  const signal = AbortSignal.timeout(reach.limitMs ?? limitMs);
  let url = await checkedUrl(address, reach);
  for (let redirects = 0; ; redirects += 1) {
    const answer = await ask(url, reach, signal);
    const { statusCode: status, headers } = answer;
    if (status >= 300 && status < 400 && typeof headers.location === 'string') {
      await answer.body.dump({ limit: 16_384, signal }).catch(() => undefined);
      if (redirects === mostRedirects)
        throw new NoTable(`redirects more than ${mostRedirects} times; use the final address`);
      if (!URL.canParse(headers.location, url))
        throw new NoTable('redirects to something that is not an address');
      url = await checkedUrl(new URL(headers.location, url).href, reach, 'redirects to an address that ');
      continue;
    }
    if (status !== 200) {
      await answer.body.dump({ limit: 16_384, signal }).catch(() => undefined);
      throw new NoTable(`answered ${status}; check the address, or try again later`);
    }
    const declared = Number(headers['content-length'] ?? 0);
    const body = declared > most ? null : await readBody(answer, url, most, signal);
    if (body !== null) return new TextDecoder().decode(body);
    answer.body.destroy();
    throw new NoTable(`is larger than ${most / 1024 / 1024} MiB, so it was not read`);
  }
}

async function ask(url: URL, reach: TableReach, signal: AbortSignal) {
  try {
    return await request(url, {
      headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'model-gateway' },
      dispatcher: reach.dispatcher(url.origin, connectMs),
      signal,
    });
  } catch (error) {
    throw unreachable(error, url, reach);
  }
}

async function readBody(
  { body, statusCode, headers }: Dispatcher.ResponseData,
  url: URL,
  most: number,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const decoder = decoderOf(statusCode, headers);
  const read: Readable = decoder ? pipeline(body, decoder, () => {}) : body;
  try {
    return await readAtMost(read, most);
  } catch (error) {
    throw unreachable(signal.aborted ? signal.reason : error, url, {});
  }
}

function unreachable(error: unknown, url: URL, { limitMs: limit = limitMs }: Pick<TableReach, 'limitMs'>) {
  if (error instanceof Error && 'code' in error && error.code === 'REDIRECT_REFUSED')
    return privateAddress('');
  return new NoTable(`could not be read: ${whyUnreachable(error, url, limit)}`);
}

function privateAddress(lead: string): NoTable {
  return new NoTable(
    `${lead}is not on the public internet; save the table as a file, and use "gateway catalogue update --from FILE"`,
  );
}

async function checkedUrl(text: string, { isPrivate = isPrivateHost }: TableReach, lead = ''): Promise<URL> {
  if (!URL.canParse(text))
    throw new NoTable(`${lead}is not an address; write one like https://models.dev/api.json`);
  const url = new URL(text);
  if (url.protocol !== 'https:')
    throw new NoTable(`${lead}does not begin with https://; prices are not read without TLS`);
  if (url.username !== '' || url.password !== '')
    throw new NoTable(`${lead}has a user name or password in it; leave them out`);
  if (await isPrivate(url.hostname)) throw privateAddress(lead);
  return url;
}
