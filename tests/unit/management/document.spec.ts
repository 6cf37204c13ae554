import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { operations } from '#lib/control/operations';
import { openApiOf } from '#lib/management/document/document';

/** As a client reads it. */
const document = JSON.parse(JSON.stringify(openApiOf(operations)));

interface Described {
  readonly operationId: string;
  readonly parameters?: { readonly name?: string; readonly in?: string; readonly $ref?: string }[];
  readonly requestBody?: { content: Record<string, { schema: { properties: Record<string, unknown> } }> };
  readonly responses: Record<string, unknown>;
  readonly security?: unknown[];
}

const described: [string, Described][] = Object.entries<Record<string, Described>>(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, one]): [string, Described] => [`${method} ${path}`, one]),
);
const find = (address: string) => described.find(([known]) => known === address)?.[1];

describe('the OpenAPI document (contract: control-plane/management-api)', () => {
  it('is OpenAPI 3.1, as a public validator sees it', async () => {
    const validator = new Validator();
    expect(await validator.validate(document)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('has every address of every operation, each under a name of its own', () => {
    const declared = operations.flatMap(({ http }) =>
      http.map(({ method, path }) => `${method.toLowerCase()} ${path}`),
    );
    expect(described.map(([address]) => address).sort()).toEqual([...declared, 'get /openapi.json'].sort());
    const ids = described.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('names each field of an operation where it is sent', () => {
    for (const { http, fields, kind } of operations) {
      for (const { method, path, body: whole } of http) {
        const one = find(`${method.toLowerCase()} ${path}`);
        const inAddress = (one?.parameters ?? []).flatMap((part) => part.name ?? []);
        const { properties = {} } = one?.requestBody?.content['application/json']?.schema ?? {};
        const inBody = whole === undefined ? Object.keys(properties) : [whole];
        const wanted = [...Object.keys(fields), ...(path.includes('{workspace}') ? ['workspace'] : [])];
        expect([...inAddress, ...inBody].sort(), path).toEqual(wanted.sort());
        if (kind === 'read') expect(inBody).toEqual([]);
      }
    }
  });

  it('says where Idempotency-Key and If-Match are good, and how paging, refusals and the credential go', () => {
    const create = find('post /workspaces/{workspace}/keys');
    expect(create?.parameters).toContainEqual({ $ref: '#/components/parameters/IdempotencyKey' });
    expect(create?.responses).toMatchObject({ 201: {}, 403: {}, 409: {} });
    const change = find('patch /workspaces/{workspace}/keys/{id}');
    expect(change?.parameters).toContainEqual({ $ref: '#/components/parameters/IfMatch' });
    const list = find('get /workspaces/{workspace}/keys');
    expect(list?.parameters?.map(({ name }) => name)).toEqual(['workspace', 'search', 'limit', 'after']);
    expect(list?.responses).toHaveProperty('200.content.application/json.schema.properties.next');
    expect(document.security).toEqual([{ managementKey: [] }]);
    expect(find('get /openapi.json')?.security).toEqual([]);
    expect(document.servers).toMatchObject([{ url: '/api/v1' }]);
  });
});
