import { z } from 'zod';
import type { Store } from '#lib/control/operations/store';
import { idFloor } from '#lib/platform/ids';

const codes = {
  suspended: 'apikey_inactive',
  funds: 'insufficient_balance',
  budget: 'insufficient_balance',
} as const;
const rateCodes = ['workspace_rpm_exceeded', 'workspace_tpm_exceeded', 'workspace_concurrency_exceeded'];

/** By what calls of all keys of a workspace are refused (contract: operations/workspace-show). */
export const workspaceRefusing = z.object({
  cause: z
    .enum(['suspended', 'funds', 'budget', 'rate'])
    .describe('The first cause in the order of admission. "rate" is read from the calls of the last hour.'),
  code: z.string().describe('Error code of the refusals.'),
  until: z.iso
    .datetime()
    .nullable()
    .describe(
      'When it ends by itself: the end of the month of a budget; null: only if something is changed.',
    ),
  latest: z
    .object({ at: z.iso.datetime(), refused: z.int().describe('How many calls of the last hour.') })
    .nullable()
    .describe('For "rate": the latest refusal, and how many there were.'),
});
export type WorkspaceRefusing = z.output<typeof workspaceRefusing>;

/** Calls of the last hour that a rate limit of the workspace refused. */
export interface RateLimited {
  readonly code: string;
  readonly at: Date;
  readonly refused: number;
}

/** What is known about a workspace, funds without what running calls hold, which is temporary. */
export interface WorkspaceFacts {
  readonly suspended: boolean;
  readonly fundsNano: bigint;
  /** When a hard budget that is used up admits calls again; null: it refuses none. */
  readonly budgetEnds: Date | null;
  readonly limited: RateLimited | null;
}

/** By what the next call of any key of a workspace would be refused, as far as that is known; null: nothing. Pure. */
export function workspaceRefusingOf({
  suspended,
  fundsNano,
  budgetEnds,
  limited,
}: WorkspaceFacts): WorkspaceRefusing | null {
  const by = (cause: keyof typeof codes, until: Date | null = null) => ({
    cause,
    code: codes[cause],
    until: until?.toISOString() ?? null,
    latest: null,
  });
  if (suspended) return by('suspended');
  if (fundsNano <= 0n) return by('funds');
  if (budgetEnds !== null) return by('budget', budgetEnds);
  if (limited === null) return null;
  const { code, at, refused } = limited;
  return { cause: 'rate', code, until: null, latest: { at: at.toISOString(), refused } };
}

const hourMs = 3_600_000;

const limitedCalls = `
  SELECT w.id::text AS id, c.* FROM unnest($1::uuid[]) AS w (id) CROSS JOIN LATERAL (
    SELECT count(*)::int AS refused, max(at) AS at, (array_agg(error_code ORDER BY id DESC))[1] AS code
    FROM (SELECT id, at, error_code FROM call WHERE workspace_id = w.id AND id >= $2::uuid AND status >= 400
      ORDER BY id DESC LIMIT 1000) AS failed
    WHERE error_code = ANY ($3::text[])
  ) AS c WHERE c.refused > 0`;

/** The workspaces of which a rate limit of the workspace refused calls within an hour. @throws Error of the database. */
export async function readRateLimited(
  store: Pick<Store, 'query'>,
  ids: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, RateLimited>> {
  const values = [ids, idFloor(nowMs - hourMs), rateCodes];
  const rows = await store.query<RateLimited & { id: string }>(limitedCalls, values);
  return new Map(rows.map((row) => [row.id, row]));
}
