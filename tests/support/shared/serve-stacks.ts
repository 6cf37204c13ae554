import { once } from 'node:events';
import { createServer } from 'node:http';
import { verifyLedger } from '#lib/control/billing/verify';
import { faultsIn } from '#tests/support/shared/faults';
import { type OwnStack, startStack } from '#tests/support/stack';

/**
 * vitest's global setup: one stack for each lane, shared by all spec files. Starts each stack when the first
 * file asks for it at TEST_STACKS_URL, and stops them after the last file.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const stacks = new Map<string, Promise<OwnStack>>();
  const get = (lane: 'node' | 'web') => {
    const known = stacks.get(lane);
    if (known) return known;
    const started = startStack({ lane, direct: true, console: true });
    stacks.set(lane, started);
    return started;
  };
  const find = async (what: string, page: string) => {
    const stack = await get(what === 'web' ? 'web' : 'node');
    return page === 'log' ? stack.log() : JSON.stringify(placeOf(stack));
  };
  // Only clients close connections: if the server did, a client might be writing at that moment.
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    const [, what = '', page = ''] = (request.url ?? '').split('/');
    find(what, page).then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  process.env.TEST_STACKS_URL = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  return async () => {
    server.closeAllConnections();
    server.close();
    const faults: string[] = [];
    for (const [lane, starting] of stacks) {
      const stack = await starting.catch(() => null);
      if (!stack) continue;
      const { checks } = await verifyLedger(stack.db);
      const broken = checks.filter((check) => check.rows.length > 0);
      if (broken.length > 0) faults.push(`The books of the ${lane} lane: ${JSON.stringify(broken)}`);
      const lines = faultsIn(stack.log());
      if (lines.length > 0) faults.push(`The log of the ${lane} lane: ${lines.join('\n')}`);
      await stack.close();
    }
    if (faults.length > 0) throw new Error(faults.join('\n'));
  };
}

/** What a file needs to join. */
export interface SharedPlace {
  readonly url: string;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly sandbox: { readonly url: string; readonly key: string };
}

function placeOf({ url, databaseUrl, dataDir, sandbox }: OwnStack): SharedPlace {
  return { url, databaseUrl, dataDir, sandbox: { url: sandbox.url, key: sandbox.key } };
}
