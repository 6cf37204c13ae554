import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import type { CallDetail } from '#lib/control/operations/call/detail';
import { parseUsd } from '#lib/core/money';
import { eventually } from '#tests/support/eventually';
import type { Stack } from '#tests/support/stack';

/** A workspace of its own, its key and the official SDK, which knows address and key alone. */
export interface Studio {
  readonly client: OpenAI;
  readonly key: string;
  readonly slug: string;
  readonly workspaceId: string;
  /** A request with this key. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export async function openStudio(
  stack: Stack,
  workspaceSettings: Parameters<Stack['workspace']>[0] = {},
  keySettings: Parameters<Stack['key']>[1] = {},
): Promise<Studio> {
  const { id, slug } = await stack.workspace({ rpm: 10_000, ...workspaceSettings });
  const { key } = await stack.key(slug, keySettings);
  return {
    client: new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 }),
    key,
    slug,
    workspaceId: id,
    fetch: (path, init = {}) => {
      const headers = { authorization: `Bearer ${key}`, ...Object.fromEntries(new Headers(init.headers)) };
      return fetch(`${stack.url}${path}`, { redirect: 'manual', ...init, headers });
    },
  };
}

/** A prompt that finds its request in the provider's log, with what its job is to do. */
export function promptOf(directive = 'film?job_ms=0'): string {
  return `A calm sea ${randomUUID()} [[${directive}]]`;
}

/** Makes a character. @returns its id. */
export async function characterOf(url: string, key: string): Promise<string> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  const video = await OpenAI.toFile(Buffer.from('film'), 'cat.mp4', { type: 'video/mp4' });
  return String((await client.videos.createCharacter({ name: 'Cat', video })).id);
}

/** The create call's row once its job is settled. */
export async function settled(stack: Stack, callId: string): Promise<CallDetail> {
  await eventually(async () => (await stack.call(callId)).job?.settledAt !== null, true);
  return stack.call(callId);
}

/** What the workspace holds and has spent, nano-dollars, as the database has it. */
export async function accountOf(stack: Stack, workspaceId: string): Promise<{ held: bigint; spent: bigint }> {
  const { rows } = await stack.db.pool.query<{ held: string; spent: string }>(
    `SELECT (SELECT coalesce(sum(amount_nano), 0)::text FROM hold WHERE workspace_id = $1) AS held,
      (SELECT coalesce(-sum(amount_nano), 0)::text FROM ledger_line
        WHERE workspace_id = $1 AND kind = 'usage') AS spent`,
    [workspaceId],
  );
  return { held: BigInt(rows[0]?.held ?? 0), spent: BigInt(rows[0]?.spent ?? 0) };
}

export const dollars = parseUsd;
