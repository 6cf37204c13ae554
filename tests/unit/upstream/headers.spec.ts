import { describe, expect, it } from 'vitest';
import { headersToClient, headersToProvider } from '#lib/gateway/upstream/headers';

const credential = ['authorization', 'Bearer operator'] as const;

function sent(
  client: Record<string, string>,
  given: {
    body?: Parameters<typeof headersToProvider>[1]['body'];
    deny?: string[];
    workspace?: string;
    resumable?: boolean;
  } = {},
): Record<string, string> {
  const list = headersToProvider(client, {
    credential,
    body: given.body ?? 'json',
    denyBetas: given.deny ?? [],
    workspaceId: given.workspace ?? 'workspace-a',
    ...(given.resumable && { resumable: true }),
  });
  const pairs: [string, string][] = [];
  for (let at = 0; at < list.length; at += 2) pairs.push([list[at] ?? '', list[at + 1] ?? '']);
  expect(new Set(pairs.map(([name]) => name)).size).toBe(pairs.length);
  return Object.fromEntries(pairs);
}

describe('what travels to a provider (contract: body/headers, body/idempotency-key)', () => {
  it('a provider gets the allowed headers, the operator’s credential and identity encoding, and nothing else', () => {
    const got = sent({
      authorization: 'Bearer mg_client',
      'x-api-key': 'mg_client',
      cookie: 'a=b',
      host: 'gateway',
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'user-agent': 'OpenAI/JS',
      'openai-organization': 'org_stranger',
      'anthropic-version': '2026-10-21',
      traceparent: '00-a-b-01',
      'x-stainless-lang': 'js',
      range: 'bytes=0-1',
      'if-none-match': 'x',
      'content-type': 'text/plain',
    });
    expect(got).toEqual({
      'accept-encoding': 'identity',
      authorization: 'Bearer operator',
      accept: 'application/json',
      'user-agent': 'OpenAI/JS',
      'anthropic-version': '2026-10-21',
      traceparent: '00-a-b-01',
      'x-stainless-lang': 'js',
      'content-type': 'application/json',
    });
  });

  it('a form keeps its own boundary, and only requests for content have ranges and conditions', () => {
    const client = { 'content-type': 'multipart/form-data; boundary=x', range: 'bytes=0-1', 'if-range': 'e' };
    expect(sent(client, { body: 'form' })).toMatchObject({ 'content-type': client['content-type'] });
    expect(sent(client, { body: 'content' })).toMatchObject({ range: 'bytes=0-1', 'if-range': 'e' });
    expect(sent(client, { body: 'none' })).not.toHaveProperty('range');
  });

  it('idempotency keys are made specific to the workspace, because two may choose the same', () => {
    const key = (workspace: string, value = 'order-1') =>
      sent({ 'idempotency-key': value }, { workspace })['idempotency-key'];
    expect(key('workspace-a')).toBe(key('workspace-a'));
    expect(key('workspace-a')).not.toBe(key('workspace-b'));
    expect(key('workspace-a')).not.toBe(key('workspace-a', 'order-2'));
    expect(key('workspace-a')).not.toContain('order-1');
  });

  it('what says which part of an upload a request brings is sent with uploads only', () => {
    const client = { 'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '0' };
    expect(sent(client, { resumable: true })).toMatchObject(client);
    expect(Object.keys(sent(client)).filter((name) => name.startsWith('x-goog-upload-'))).toEqual([]);
  });

  it('betas that an offer denies are not sent to it', () => {
    const client = { 'anthropic-beta': 'one-2026, two-2026,three-2026' };
    expect(sent(client, { deny: ['two-2026'] })['anthropic-beta']).toBe('one-2026,three-2026');
    expect(sent(client, { deny: ['one-2026', 'two-2026', 'three-2026'] })).not.toHaveProperty(
      'anthropic-beta',
    );
  });

  it('the number of an SDK’s own headers that are sent is limited', () => {
    const flood = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`x-stainless-${at}`, 'x'] as const),
    );
    const names = Object.keys(sent(flood)).filter((name) => name.startsWith('x-stainless-'));
    expect(names).toHaveLength(32);
  });
});

describe('what travels to the client (contract: request/answer-headers)', () => {
  it('a client gets only allowed headers, nothing that a provider echoes, sets or counts for its own account', () => {
    expect(
      headersToClient(
        {
          'content-type': 'application/json',
          'retry-after': '3',
          'x-goog-api-key': 'operator',
          authorization: 'Bearer operator',
          'set-cookie': ['a=b'],
          'x-ratelimit-limit-requests': '9',
          location: 'https://elsewhere',
          server: 'cloud',
        },
        false,
        'operator',
      ),
    ).toEqual(['content-type', 'application/json', 'retry-after', '3']);
  });

  it('no header to the client contains the credential that was sent, wherever it is echoed', () => {
    const credential = 'sk-operator-0123456789';
    const echoed = { 'content-disposition': `inline; filename="${credential}"`, etag: `"${credential}"` };
    expect(headersToClient(echoed, false, credential)).toEqual([
      'content-disposition',
      `inline; filename="${'*'.repeat(credential.length)}"`,
      'etag',
      `"${'*'.repeat(credential.length)}"`,
    ]);
  });

  it('a stream has neither a length nor the provider’s buffering header', () => {
    const provider = {
      'content-type': 'text/event-stream',
      'content-length': '9',
      'x-accel-buffering': 'yes',
      'cache-control': 'no-store',
    };
    expect(headersToClient(provider, true, 'operator')).toEqual([
      'content-type',
      'text/event-stream',
      'cache-control',
      'no-store',
    ]);
  });
});
