import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#lib/core/errors';
import { makeKey } from '#lib/platform/secrets';
import { callsOf, closeBalanced } from '#tests/support/books';
import { ask, askChat, bearer, codeOf, whileOneRuns } from '#tests/support/chat-call';
import {
  disableKey,
  exhaustKey,
  expireKey,
  revokeKey,
  rotateKey,
  setWorkspace,
} from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { expectRefusal, expectRefusedRow } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import { type Stack, secrets } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const hello = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] });
const chatPath = '/v1/chat/completions';
const json = { 'Content-Type': 'application/json' };

describe('the refusals each by its cause (contract: request/error-codes)', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  /** A workspace and a key of the test's own. */
  async function own(
    keySettings: Parameters<Stack['key']>[1] = {},
    workspaceSettings: Parameters<Stack['workspace']>[0] = {},
  ) {
    const workspace = await stack.workspace(workspaceSettings);
    return { workspace, ...(await stack.key(workspace.slug, keySettings)) };
  }

  describe.concurrent('before a key is known', () => {
    it.each<[string, string, ErrorCode, string | undefined]>([
      ['GET', '/v1/nothing', 'not_found', undefined],
      ['POST', '/v1/chat/completion', 'not_found', undefined],
      ['GET', '/v1', 'not_found', undefined],
      ['GET', '/v1/', 'not_found', undefined],
      ['GET', '/v1beta/nothing', 'not_found', undefined],
      ['GET', '/v1alpha', 'not_found', undefined],
      ['POST', '/v1/models', 'method_not_allowed', 'GET'],
      ['DELETE', '/v1/models', 'method_not_allowed', 'GET'],
      ['PUT', '/v1/models', 'method_not_allowed', 'GET'],
      ['PATCH', '/v1/models', 'method_not_allowed', 'GET'],
      ['OPTIONS', '/v1/models', 'method_not_allowed', 'GET'],
      ['GET', '/v1/completions', 'method_not_allowed', 'POST'],
      ['OPTIONS', '/v1/completions', 'method_not_allowed', 'POST'],
    ])('%s %s without a key: %s', async (method, path, code, allow) => {
      const answer = await ask(stack.url, method, path);
      expectRefusal(answer, code);
      expect(headerOf(answer, 'allow')).toBe(allow);
    });

    it('HEAD is refused without a body', async () => {
      const answer = await ask(stack.url, 'HEAD', '/v1/models');
      expect([answer.status, answer.body.length]).toEqual([405, 0]);
      expect(headerOf(answer, 'allow')).toBe('GET');
      expect(headerOf(answer, 'x-request-id')).toBeDefined();
    });

    const other = makeKey();
    it.each<[string, Record<string, string>, ErrorCode]>([
      ['no credential', {}, 'missing_platform_authorization'],
      ['an empty native header', { 'x-api-key': '' }, 'missing_platform_authorization'],
      ['a Basic credential', { Authorization: 'Basic bWc6cGFzcw==' }, 'invalid_api_key'],
      ['an empty Bearer', { Authorization: 'Bearer ' }, 'invalid_api_key'],
      ['a malformed key', bearer('mg_short'), 'invalid_api_key'],
      ['a key with a wrong check sum', bearer(`${other.slice(0, -1)}?`), 'invalid_api_key'],
      ['an unknown key', bearer(other), 'invalid_api_key'],
      ['an unknown key in x-api-key', { 'x-api-key': other }, 'invalid_api_key'],
      ['two keys that differ', { 'x-api-key': other, 'x-goog-api-key': makeKey() }, 'invalid_api_key'],
      ['a second well-formed key', { ...bearer(other), 'api-key': makeKey() }, 'invalid_api_key'],
    ])('%s', async (_name, headers, code) => {
      const answer = await ask(stack.url, 'POST', chatPath, { ...headers, ...json }, hello);
      const id = expectRefusal(answer, code, other);
      expect(headerOf(answer, 'connection')).toBe('close');
      const { rows } = await stack.db.pool.query('SELECT 1 FROM call WHERE id = $1', [id]);
      expect(rows).toEqual([]);
    });
  });

  describe.concurrent('by the state of the key', () => {
    it.each<[string, ErrorCode, (key: { id: string; slug: string }) => Promise<unknown>]>([
      ['revoked', 'invalid_api_key', ({ id }) => revokeKey(stack.db, { id })],
      ['disabled', 'apikey_inactive', ({ id }) => disableKey(stack.db, { id })],
      ['quota flag', 'quota_exceeded', ({ id }) => exhaustKey(stack.db, { id })],
      ['rotated out', 'invalid_api_key', ({ id }) => rotateKey(stack.db, { id }, secrets.KEY_PEPPER)],
      ['expired', 'apikey_inactive', ({ id }) => expireKey(stack.db, id)],
      [
        'suspended workspace',
        'apikey_inactive',
        ({ slug }) => setWorkspace(stack.db, { workspace: slug, suspended: true }),
      ],
    ])('%s: in force at once, whatever was in memory', async (_name, code, change) => {
      const { id, key, workspace } = await own();
      expect((await askChat(stack.url, key, {})).answer.status).toBe(200);
      await change({ id, slug: workspace.slug });
      await stack.announce();
      const asked = await askChat(stack.url, key, {});
      expectRefusal(asked.answer, code, key);
      // A key that is no key any more resolves to nothing, and leaves no row.
      if (code === 'invalid_api_key') expect(await callsOf(stack, workspace.id)).toBeLessThanOrEqual(1);
      else await expectRefusedRow(stack, asked.id, code);
      expect(codeOf(await ask(stack.url, 'GET', '/v1/models', bearer(key)))).toBe(code);
    });
  });

  describe.concurrent('by the request', () => {
    it.each<[string, ErrorCode, object | string, Record<string, string>]>([
      ['not JSON', 'invalid_body', '{"model":', {}],
      ['an empty body', 'invalid_body', '', {}],
      ['a list', 'invalid_body', '[]', {}],
      ['no model', 'invalid_body', '{"messages":[]}', {}],
      ['a model that is no string', 'invalid_body', { model: 7 }, {}],
      ['an encoded body', 'invalid_body', hello, { 'Content-Encoding': 'gzip' }],
      ['an unknown model', 'model_not_allowed', { model: 'no/such-model' }, {}],
      ['a model out of scope', 'model_not_allowed', { model: 'sandbox/mini' }, {}],
      [
        'a model of another family',
        'model_not_allowed',
        { model: 'test/other-family' },
        { 'X-Translate': 'never' },
      ],
      ['max_tokens over the policy', 'max_output_tokens_exceeded', { max_tokens: 101 }, {}],
      ['max_completion_tokens over it', 'max_output_tokens_exceeded', { max_completion_tokens: 101 }, {}],
    ])('%s: %s', async (_name, code, body, headers) => {
      const { key, workspace } = await own({
        models: ['sandbox/echo', 'test/other-family'],
        maxOutputTokens: 100,
      });
      const text =
        typeof body === 'string' ? body : JSON.stringify({ model: 'sandbox/echo', messages: [], ...body });
      const answer = await ask(stack.url, 'POST', chatPath, { ...bearer(key), ...json, ...headers }, text);
      await expectRefusedRow(stack, expectRefusal(answer, code, key), code);
      expect(await callsOf(stack, workspace.id)).toBe(1);
    });

    it('the message distinguishes an unknown model from one that is not allowed, and from one of another family', async () => {
      const { key } = await own({ models: ['sandbox/echo', 'test/other-family'] });
      const headers = { 'X-Translate': 'never' };
      const messageOf = async (model: string) =>
        JSON.parse((await askChat(stack.url, key, { model }, { headers })).answer.body.toString()).error
          .message;
      expect(await messageOf('no/such-model')).toMatch(/unknown/);
      expect(await messageOf('sandbox/mini')).toMatch(/does not allow/);
      expect(await messageOf('test/other-family')).toMatch(/\/v1\/responses/);
    });
  });

  describe.concurrent('by money', () => {
    it('a workspace without funds: insufficient_balance until funds are there', async () => {
      const { key, workspace } = await own({}, { credit: '0' });
      const asked = await askChat(stack.url, key, {});
      await expectRefusedRow(
        stack,
        expectRefusal(asked.answer, 'insufficient_balance', key),
        'insufficient_balance',
      );
      await setWorkspace(stack.db, { workspace: workspace.slug, credit: '1' });
      await stack.announce();
      expect((await askChat(stack.url, key, {})).answer.status).toBe(200);
    });

    it.each<[ErrorCode, Parameters<Stack['key']>[1]]>([
      ['day_limit_reached', { dailyCap: '0.000001' }],
      ['d7_limit_reached', { d7Cap: '0.000001' }],
      ['d30_limit_reached', { d30Cap: '0.000001' }],
      ['quota_exceeded', { quota: '0.000001' }],
    ])('the call that crosses is admitted, the next is %s', async (code, settings) => {
      const { key } = await own(settings);
      const first = await askChat(stack.url, key, {});
      expect(first.answer.status).toBe(200);
      await stack.call(first.id);
      const asked = await askChat(stack.url, key, {});
      await expectRefusedRow(stack, expectRefusal(asked.answer, code, key), code);
    });

    it('a 402 that only a running call causes says that a retry helps', async () => {
      const { key } = await own({ dailyCap: '0.01' });
      const asked = await whileOneRuns(stack, key, () => askChat(stack.url, key, {}));
      expectRefusal(asked.answer, 'day_limit_reached', key, true);
    });
  });

  describe.concurrent('by limits', () => {
    it.each<[ErrorCode, Parameters<Stack['key']>[1], Parameters<Stack['workspace']>[0]]>([
      ['api_key_rpm_exceeded', { rpm: 1 }, {}],
      ['api_key_tpm_exceeded', { tpm: 20 }, {}],
      ['workspace_rpm_exceeded', {}, { rpm: 1 }],
      ['workspace_tpm_exceeded', {}, { tpm: 20 }],
    ])('%s after one call', async (code, keySettings, workspaceSettings) => {
      const { key } = await own(keySettings, workspaceSettings);
      expect((await askChat(stack.url, key, {})).answer.status).toBe(200);
      const asked = await askChat(stack.url, key, {});
      await expectRefusedRow(stack, expectRefusal(asked.answer, code, key), code);
    });

    it.each<[ErrorCode, Parameters<Stack['key']>[1], Parameters<Stack['workspace']>[0]]>([
      ['api_key_concurrency_exceeded', { concurrency: 1 }, {}],
      ['workspace_concurrency_exceeded', {}, { concurrency: 1 }],
    ])('%s while a call runs, and not after it', async (code, keySettings, workspaceSettings) => {
      const { key } = await own(keySettings, workspaceSettings);
      const refused = await whileOneRuns(stack, key, () =>
        ask(stack.url, 'POST', chatPath, bearer(key), hello),
      );
      await expectRefusedRow(stack, expectRefusal(refused, code, key), code);
      await eventually(async () => (await askChat(stack.url, key, {})).answer.status, 200);
    });

    it.each([
      ['a key limit of 0', 'UPDATE api_key SET rpm = 0 WHERE workspace_id = $1'],
      ['a negative key limit', 'UPDATE api_key SET tpm = -5 WHERE workspace_id = $1'],
      ['a workspace limit of 0', 'UPDATE workspace SET concurrency = 0 WHERE id = $1'],
      ['an unknown time zone', "UPDATE workspace SET time_zone = 'Mars/Base' WHERE id = $1"],
    ])('%s in the database: rate_limit_config_invalid', async (_name, statement) => {
      const { key, workspace } = await own();
      await stack.db.pool.query(statement, [workspace.id]);
      const asked = await askChat(stack.url, key, {});
      const id = expectRefusal(asked.answer, 'rate_limit_config_invalid', key);
      await expectRefusedRow(stack, id, 'rate_limit_config_invalid');
    });
  });

  describe.concurrent('by the route', () => {
    it.each<[string, ErrorCode, RegExp]>([
      ['test/nowhere', 'missing_upstream_base_url', /TEST_NOWHERE_URL/],
      ['test/unkeyed', 'missing_upstream_base_url', /TEST_UNSET_KEY/],
      ['test/unpriced', 'model_not_allowed', /price/],
      ['test/misaddressed', 'invalid_upstream_base_url', /TEST_MISADDRESSED_URL/],
    ])('%s: %s, and nothing is claimed', async (model, code, why) => {
      const { key } = await own({ rpm: 1 });
      for (let n = 0; n < 3; n += 1) {
        const asked = await askChat(stack.url, key, { model });
        await expectRefusedRow(stack, expectRefusal(asked.answer, code, key), code);
        expect(asked.answer.body.toString()).toMatch(why);
      }
      expect((await askChat(stack.url, key, {})).answer.status).toBe(200);
    });

    it('a closed port: upstream_request_failed, with the attempt in the log', async () => {
      const { key } = await own();
      const asked = await askChat(stack.url, key, { model: 'test/closed' });
      const id = expectRefusal(asked.answer, 'upstream_request_failed', key);
      expect(await stack.call(id)).toMatchObject({
        errorCode: 'upstream_request_failed',
        endReason: 'upstream_error',
        cost: '0',
        attempts: [{ provider: 'closed', status: null, error: 'connection_refused' }],
      });
    });

    it("the operator's own bad credential shows as the provider's answer when no other target can answer", async () => {
      const { key } = await own();
      const asked = await askChat(stack.url, key, { model: 'test/miskeyed' });
      expect(asked.answer.status).toBe(401);
      expect(await stack.call(asked.id)).toMatchObject({ errorCode: null, cost: '0' });
    });
  });
});
