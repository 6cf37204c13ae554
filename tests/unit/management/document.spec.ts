import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { openApiOf } from '#lib/control/management/document/document';
import { operations } from '#lib/control/operations/operations';

/** As a client reads it. */
const document = JSON.parse(JSON.stringify(openApiOf(operations)));

interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | string[];
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly anyOf?: Schema[];
}

interface Described {
  readonly summary: string;
  readonly description: string;
  readonly operationId: string;
  readonly parameters?: {
    readonly name?: string;
    readonly in?: string;
    readonly $ref?: string;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: { content: Record<string, { schema: Schema }> };
  readonly responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
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

  it('has every address of every operation, each with a unique name', () => {
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
    const names = list?.parameters?.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['workspace', 'search', 'limit', 'after']));
    expect(list?.responses).toHaveProperty('200.content.application/json.schema.properties.next');
    expect(document.security).toEqual([{ managementKey: [] }]);
    expect(find('get /openapi.json')?.security).toEqual([]);
    expect(document.servers).toMatchObject([{ url: '/api/v1' }]);
  });

  it('says of every address what it does and who may, in sentences', () => {
    for (const [address, { summary, description }] of described) {
      expect(summary, address).toMatch(/\.$/);
      expect(description, address).toMatch(/\.$/);
    }
  });

  it('says of every field what it is, and what its amounts count', () => {
    const silent: string[] = [];
    const examine = (where: string, schema: Schema | undefined) => {
      for (const [name, one] of Object.entries(schema?.properties ?? {})) {
        if (!one.description) silent.push(`${where} ${name}`);
        examine(`${where} ${name}`, one);
      }
    };
    for (const [address, { parameters = [], requestBody }] of described) {
      for (const { name, schema } of parameters) {
        if (name !== undefined && !(schema?.title && schema.description)) silent.push(`${address} ${name}`);
      }
      examine(address, requestBody?.content['application/json']?.schema);
    }
    expect(silent).toEqual([]);
    const amounts = operations.flatMap(({ name, fields }) =>
      Object.entries(fields)
        .filter(([, { kind }]) => kind === 'count' || kind === 'money')
        .map(([field, facts]) => [`${name} ${field}`, facts.unit] as const),
    );
    expect(amounts.filter(([, unit]) => unit === undefined)).toEqual([]);
  });

  it('says of every number of an answer what it counts, by its name or in words', () => {
    const silent = new Set<string>();
    const examine = (where: string, schema: Schema | undefined) => {
      for (const [name, one] of Object.entries(schema?.properties ?? {})) {
        const number = [one, ...(one.anyOf ?? [])].some(({ type }) =>
          [type].flat().some((word) => word === 'integer' || word === 'number'),
        );
        const told = one.description || /(Ms|Tokens|Seconds|version|status)$/.test(name);
        if (number && !told) silent.add(`${where} ${name}`);
        examine(where, one);
      }
      for (const part of [schema?.items, ...(schema?.anyOf ?? [])]) if (part) examine(where, part);
    };
    for (const [, { operationId, responses }] of described) {
      for (const { content } of Object.values(responses)) {
        examine(operationId, content?.['application/json']?.schema);
      }
    }
    expect([...silent]).toEqual([]);
  });

  it('has examples that the operations take', () => {
    for (const { name, fields } of operations) {
      for (const [field, { example, schema }] of Object.entries(fields)) {
        if (example === undefined) continue;
        expect(schema.safeParse(example).success, `${name} ${field}`).toBe(true);
      }
    }
  });
});
