import { expect } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import type { CallDetail } from '#lib/control/operations/call/detail';
import { parseUsd } from '#lib/core/money';
import { eventually } from '#tests/support/eventually';
import { faultsIn } from '#tests/support/shared/faults';
import type { Stack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';
import type { EndLine } from '#tools/sandbox/truth-log';

/** Rates of sandbox/echo and the test models, nano-dollars a token: $1, $0.25 and $4 a million. */
const rates = { input: 1_000n, cached: 250n, output: 4_000n };

/** What the usage that a provider reported costs, in the words of each text protocol, computed apart from the gateway. */
export function fairNano(end: EndLine): bigint {
  const usage = record(end.usageReported);
  const first = (...names: readonly string[]) => count(names.map((name) => usage[name]).find((one) => one));
  const details = record(usage.prompt_tokens_details ?? usage.input_tokens_details);
  const part = count(details.cached_tokens) + first('cachedContentTokenCount');
  // Anthropic counts what it read from its cache beside the input.
  const apart = first('cache_read_input_tokens');
  const input = first('prompt_tokens', 'input_tokens', 'promptTokenCount') - part;
  const output =
    first('completion_tokens', 'output_tokens', 'candidatesTokenCount') + first('thoughtsTokenCount');
  return input * rates.input + (part + apart) * rates.cached + output * rates.output;
}

export function costOf(call: CallDetail): bigint {
  return parseUsd(call.cost);
}

/** The charges of one call, nano-dollars below 0; `ledger verify` ties them to the ledger. */
export async function linesOf(stack: Stack, id: string): Promise<bigint[]> {
  const { rows } = await stack.db.pool.query<{ amount: string }>(
    'SELECT (-cost_nano)::text AS amount FROM call WHERE id = $1 AND cost_nano <> 0',
    [id],
  );
  return rows.map((row) => BigInt(row.amount));
}

/** Number of a workspace's rows in the call log. */
export async function callsOf(stack: Stack, workspaceId: string): Promise<number> {
  const { rows } = await stack.db.pool.query<{ calls: number }>(
    'SELECT count(*)::int AS calls FROM call WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows[0]?.calls ?? 0;
}

/**
 * Waits until this file's workspaces have no holds, then checks every invariant of money and logs. For a
 * shared stack, whose log is from all files, they are checked after the last file
 * (tests/support/shared/serve-stacks.ts).
 */
export async function expectBalancedBooks(stack: Stack): Promise<void> {
  const nothing = { held: '0', holds: 0 };
  const text = `SELECT (SELECT coalesce(sum(held_nano), 0)::text FROM lease WHERE subject_id = ANY($1) OR subject_id IN
      (SELECT id FROM api_key WHERE workspace_id = ANY($1))) AS held,
    (SELECT count(*)::int FROM hold WHERE workspace_id = ANY($1)) AS holds`;
  await eventually(async () => (await stack.db.pool.query(text, [stack.workspaces])).rows[0], nothing);
  if (stack.shared) return;
  const { checks } = await verifyLedger(stack.db);
  expect(checks.filter((check) => check.rows.length > 0)).toEqual([]);
}

/**
 * Ends a file's use of its stack: no holds are left, its books balance, and the gateway has logged no error.
 */
export async function closeBalanced(stack: Stack): Promise<void> {
  try {
    await expectBalancedBooks(stack);
    expect(faultsIn(await stack.log())).toEqual([]);
  } finally {
    await stack.close();
  }
}

function count(value: unknown): bigint {
  return typeof value === 'number' && value > 0 ? BigInt(Math.ceil(value)) : 0n;
}
