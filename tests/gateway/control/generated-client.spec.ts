import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'openapi-typescript-codegen';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { operate } from '#tests/support/control/operate';
import { joinStack } from '#tests/support/shared/join';
import { type Stack, secrets } from '#tests/support/stack';

let stack: Stack;
const folder = mkdtempSync(join(tmpdir(), 'gateway-client-'));
beforeAll(async () => {
  stack = await joinStack();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await stack.close();
});

/** What the generator makes of an operation: fields, header names in camel case, and `requestBody`. */
type Method = (options?: object) => Promise<Record<string, unknown>>;
interface Client {
  readonly OpenAPI: { BASE: string; TOKEN?: string };
  readonly KeyService: Record<'keyCreate' | 'keyShow' | 'keyList' | 'keySet', Method>;
  readonly ManagementKeyService: Record<'managementKeyMe', Method>;
  readonly CallService: Record<'callShow' | 'callList', Method>;
  readonly UsageService: Record<'usageShow', Method>;
  readonly LedgerService: Record<'ledgerList', Method>;
}

it('a client made of the served document makes a key, calls with it, and reads key, call, usage and balance', async () => {
  const document = await (await fetch(`${stack.url}/api/v1/openapi.json`)).json();
  await generate({ input: document, output: folder, httpClient: 'fetch', useOptions: true });
  const client: Client = await import(join(folder, 'index.ts'));
  const { KeyService: key, ManagementKeyService: managementKey } = client;
  const { slug: workspace } = await stack.workspace();
  const wanted = { workspace, name: 'generated', role: 'admin' };
  const { key: token } = await operate(stack.db, createManagementKey, wanted, secrets.KEY_PEPPER);
  client.OpenAPI.BASE = new URL(client.OpenAPI.BASE, stack.url).href;
  client.OpenAPI.TOKEN = token;

  expect(await managementKey.managementKeyMe()).toMatchObject({ workspace, role: 'admin' });
  const create = {
    workspace,
    idempotencyKey: 'first',
    requestBody: { name: 'web', models: ['sandbox/echo'], dailyCap: '5' },
  };
  const made = await key.keyCreate(create);
  expect(made).toEqual({ id: expect.any(String), key: expect.stringMatching(/^mg_/) });
  expect(await key.keyCreate(create)).toEqual(made);
  const call = await fetch(`${stack.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${made.key}` },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  expect(call.status).toBe(200);
  const requestId = call.headers.get('x-request-id') ?? '';
  const logged = await stack.call(requestId);
  expect(await client.CallService.callShow({ workspace, id: requestId })).toEqual({
    ...logged,
    priceSince: expect.any(String),
  });
  const failed = await client.CallService.callList({ workspace, key: made.id, status: '4xx' });
  expect(failed).toEqual({ data: [], next: null });
  const rows = [{ key: made.id, name: 'web', calls: 1, cost: logged.cost }];
  expect(await client.UsageService.usageShow({ workspace, by: 'key' })).toMatchObject({ rows });
  const quarter = expect.stringMatching(/:(00|15|30|45):00Z$/);
  const line = { kind: 'usage', ref: quarter, amount: `-${logged.cost}`, balance: `-${logged.cost}` };
  expect(await client.LedgerService.ledgerList({ workspace })).toMatchObject({ data: [line], next: null });

  const { id } = made;
  const shown = { id, workspace, dailyCap: '5', models: ['sandbox/echo'] };
  expect(await key.keyShow({ workspace, id })).toMatchObject(shown);
  const page = { data: [{ id }], next: null };
  expect(await key.keyList({ workspace, search: 'web', limit: 1 })).toMatchObject(page);
  const stale = key.keySet({ workspace, id, ifMatch: '"other"', requestBody: { rpm: 7 } });
  await expect(stale).rejects.toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
});
