import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#lib/core/errors';
import { publish } from '#lib/platform/data/change';
import { makeKey } from '#lib/platform/secrets';
import { closeBalanced } from '#tests/support/books';
import { bearer, codeOf, whileOneRuns } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { requestText, talk } from '#tests/support/wire';

/** One cause of a refusal, as it changes a request that would otherwise be served. */
interface Cause {
  readonly code: ErrorCode;
  readonly target?: string;
  readonly method?: string;
  readonly credential?: 'none' | 'malformed' | 'unknown';
  readonly body?: 'broken';
  readonly model?: string;
  readonly budget?: number;
  /** In force from the start: a running call has taken the limit up. */
  readonly key?: Parameters<Stack['key']>[1];
  readonly workspace?: Parameters<Stack['workspace']>[0];
  /** In force after the running call was admitted; $1 is the workspace. */
  readonly sql?: string;
}

/** In order (contract: admission/order): of two causes the earlier one is answered. */
const causes: Readonly<Record<string, Cause>> = {
  'unknown path': { code: 'not_found', target: '/v1/nothing' },
  'wrong method': { code: 'method_not_allowed', method: 'PUT' },
  'no credential': { code: 'missing_platform_authorization', credential: 'none' },
  'malformed key': { code: 'invalid_api_key', credential: 'malformed' },
  'unknown key': { code: 'invalid_api_key', credential: 'unknown' },
  'revoked key': {
    code: 'invalid_api_key',
    sql: "UPDATE api_key SET status = 'revoked' WHERE workspace_id = $1",
  },
  'inactive key': {
    code: 'apikey_inactive',
    sql: "UPDATE api_key SET status = 'inactive' WHERE workspace_id = $1",
  },
  'suspended workspace': {
    code: 'apikey_inactive',
    sql: 'UPDATE workspace SET suspended_at = now() WHERE id = $1',
  },
  'quota flag': {
    code: 'quota_exceeded',
    sql: 'UPDATE api_key SET quota_exhausted = true WHERE workspace_id = $1',
  },
  'broken body': { code: 'invalid_body', body: 'broken' },
  'model out of scope': {
    code: 'model_not_allowed',
    sql: "UPDATE api_key SET all_models = false, models = '{sandbox/mini}' WHERE workspace_id = $1",
  },
  'output budget': {
    code: 'max_output_tokens_exceeded',
    budget: 1000,
    sql: 'UPDATE api_key SET max_output_tokens = 100 WHERE workspace_id = $1',
  },
  'no funds': {
    code: 'insufficient_balance',
    sql: 'UPDATE workspace SET credit_nano = 0 WHERE id = $1',
  },
  'daily cap': { code: 'day_limit_reached', key: { dailyCap: '0.000001' } },
  '7-day cap': { code: 'd7_limit_reached', key: { d7Cap: '0.000001' } },
  '30-day cap': { code: 'd30_limit_reached', key: { d30Cap: '0.000001' } },
  'limit of 0': {
    code: 'rate_limit_config_invalid',
    sql: 'UPDATE workspace SET rpm = 0 WHERE id = $1',
  },
  'key RPM': { code: 'api_key_rpm_exceeded', key: { rpm: 1 } },
  'key TPM': { code: 'api_key_tpm_exceeded', key: { tpm: 1 } },
  'key concurrency': { code: 'api_key_concurrency_exceeded', key: { concurrency: 1 } },
  'workspace RPM': { code: 'workspace_rpm_exceeded', workspace: { rpm: 1 } },
  'workspace TPM': { code: 'workspace_tpm_exceeded', workspace: { tpm: 1 } },
  'workspace concurrency': { code: 'workspace_concurrency_exceeded', workspace: { concurrency: 1 } },
  'no address': { code: 'missing_upstream_base_url', model: 'test/nowhere' },
  'wrong address': { code: 'invalid_upstream_base_url', model: 'test/misaddressed' },
  'closed port': { code: 'upstream_request_failed', model: 'test/closed' },
};

/** Two causes that change the same thing cannot stand in one request. */
function clash(one: Cause, other: Cause): boolean {
  const names = ['target', 'method', 'credential', 'body', 'model'] as const;
  if (names.some((name) => one[name] !== undefined && other[name] !== undefined)) return true;
  const status = /status =/;
  if (status.test(one.sql ?? '') && status.test(other.sql ?? '')) return true;
  return (
    /workspace SET rpm/.test((one.sql ?? '') + (other.sql ?? '')) &&
    (one.workspace ?? other.workspace)?.rpm !== undefined
  );
}

const entries = Object.entries(causes);
/**
 * Each cause with the nearest one behind it, and with the nearest one before it, that can stand in the same request.
 * The order of all others follows from these; that of limits and caps among each other is a unit test of `decide`.
 */
const neighbours = entries.flatMap(([firstName, first], at) => {
  const fits = ([, second]: readonly [string, Cause]) => !clash(first, second);
  const behind = entries.slice(at + 1).find(fits);
  const before = entries.slice(0, at).findLast(fits);
  return [
    ...(behind ? [{ firstName, first, secondName: behind[0], second: behind[1] }] : []),
    ...(before ? [{ firstName: before[0], first: before[1], secondName: firstName, second: first }] : []),
  ];
});
const pairs = [
  ...new Map(neighbours.map((pair) => [`${pair.firstName}, ${pair.secondName}`, pair])).values(),
];

describe('the order of checks: the first failure wins (contract: admission/order)', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  describe.concurrent('of two causes in one request', () => {
    it.each(pairs)('$firstName comes before $secondName', async ({ first, second }) => {
      const workspace = await stack.workspace({ ...first.workspace, ...second.workspace });
      const { id, key } = await stack.key(workspace.slug, { ...first.key, ...second.key });
      const runs = [first, second].some((cause) => cause.key ?? cause.workspace);
      const probe = async () => {
        const statements = [first.sql, second.sql].filter((sql) => sql !== undefined);
        for (const sql of statements) await stack.db.pool.query(sql, [workspace.id]);
        if (statements.length > 0) {
          await publish(stack.db.pool, [
            { kind: 'key', subject: id },
            { kind: 'workspace', subject: workspace.id },
            // As lowering the credit by the verb does.
            { kind: 'lease', subject: `workspace:${workspace.id}` },
          ]);
          await stack.announce();
        }
        return send(stack.url, { ...first, ...second }, key);
      };
      const code = runs ? await whileOneRuns(stack, key, probe) : await probe();
      expect(code).toBe(first.code);
    });
  });
});

async function send(url: string, cause: Cause, key: string): Promise<unknown> {
  const credentials = { none: {}, malformed: bearer('mg_malformed'), unknown: bearer(makeKey()) };
  const body = JSON.stringify({
    model: cause.model ?? 'sandbox/echo',
    messages: [{ role: 'user', content: 'Hello' }],
    ...(cause.budget === undefined ? {} : { max_tokens: cause.budget }),
  });
  const request = requestText(
    cause.method ?? 'POST',
    cause.target ?? '/v1/chat/completions',
    cause.credential ? credentials[cause.credential] : bearer(key),
    cause.body === 'broken' ? body.slice(0, -1) : body,
  );
  const [answer] = (await talk(url, request)).answers;
  return answer && codeOf(answer);
}
