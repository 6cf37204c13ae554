import { openDb } from '#lib/platform/data/db';
import { joinSandbox } from '#tests/support/provider/process';
import { attach, type Stack } from '#tests/support/shared/attach';
import type { SharedPlace } from '#tests/support/shared/serve-stacks';

/**
 * The running gateway of a lane, shared by all spec files, which are isolated by their own workspaces.
 * `close` leaves it running.
 */
export async function joinStack(lane: 'node' | 'web' = 'node'): Promise<Stack> {
  const place: SharedPlace = JSON.parse(await read(lane));
  const db = openDb(place.databaseUrl, { onError: () => {} });
  const { url, key } = place.sandbox;
  // From the start of a line, because half a line would look like another one.
  const before = (await read(`${lane}/log`)).lastIndexOf('\n') + 1;
  return {
    ...attach({ ...place, db, sandbox: joinSandbox(url, key) }, () => true),
    shared: true,
    log: async () => (await read(`${lane}/log`)).slice(before),
    close: () => db.close(),
  };
}

async function read(path: string): Promise<string> {
  const answer = await fetch(`${process.env.TEST_STACKS_URL}/${path}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the shared gateway did not start: ${text}`);
  return text;
}
