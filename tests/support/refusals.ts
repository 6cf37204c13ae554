import { expect } from 'vitest';
import { type ErrorCode, errorTable } from '#lib/core/errors';
import { jsonOf } from '#tests/support/chat-call';
import type { Stack } from '#tests/support/stack';
import { headerOf, type Wire } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Statuses after which a client must not simply send the same request again (contract: request/should-retry).
 */
const final = new Set([400, 401, 402, 403]);
const waits: ReadonlySet<ErrorCode> = new Set([
  'hydrate_cooldown',
  'api_key_rpm_exceeded',
  'api_key_tpm_exceeded',
  'workspace_rpm_exceeded',
  'workspace_tpm_exceeded',
]);

/**
 * Expects a refusal by the gateway (contract: request/error-shape, request/error-message, request/retry-in).
 * @param retries `x-should-retry: true`: a 402 whose only cause is running calls.
 * @returns its request id.
 */
export function expectRefusal(answer: Wire, code: ErrorCode, secret = '', retries = false): string {
  const body = jsonOf(answer);
  expect({ status: answer.status, ...body }).toEqual({
    status: errorTable[code].status,
    error: { message: expect.stringMatching(/^[A-Z"].{10,}\.$/s), code },
  });
  const id = headerOf(answer, 'x-request-id') ?? '';
  expect(id).toMatch(code === 'identifier_generation_failed' ? /^noid-[0-9a-f]{16}$/ : uuidV7);
  expect(headerOf(answer, 'request-id')).toBe(id);
  expect(headerOf(answer, 'content-type')).toBe('application/json; charset=utf-8');
  expect(headerOf(answer, 'x-should-retry')).toBe(final.has(answer.status) ? String(retries) : undefined);
  const message = String(record(body.error).message);
  expect(answer.reason).toMatch(/^[\x20-\x7e]{1,200}$/);
  if (/^[\x20-\x7e]{1,200}$/.test(message)) expect(answer.reason).toBe(message);
  const retryAfter = headerOf(answer, 'retry-after');
  if (waits.has(code)) {
    expect(retryAfter).toMatch(/^([1-9]|[1-5]\d|60)$/);
    expect(message).toContain(`Please retry in ${retryAfter}s.`);
  } else expect(retryAfter).toBeUndefined();
  if (secret) expect(JSON.stringify(answer.headers) + answer.body).not.toContain(secret);
  return id;
}

/** Expects the row of a refused call: found by its id, with no charge. */
export async function expectRefusedRow(stack: Stack, id: string, code: ErrorCode): Promise<void> {
  expect(await stack.call(id)).toMatchObject({
    status: errorTable[code].status,
    errorCode: code,
    endReason: 'refused',
    usageSource: 'none',
    cost: '0',
    attempts: [],
  });
}
