import { errorResponses, sharedParts } from '#lib/control/management/document/shared';
import {
  type JsonSchema,
  outputSchema,
  querySchema,
  valueSchema,
} from '#lib/control/management/document/values';
import { requestsPerMinute } from '#lib/control/management/limits';
import type { HttpBinding, Operation } from '#lib/control/operations/declare';
import type { Field } from '#lib/control/operations/field/field';
import { rolesThatMay } from '#lib/core/role';

const overview = `Everything that the console and the command line can do, for programs. Amounts of money are decimal strings in
dollars, times are ISO 8601 in UTC, and \`null\` removes a limit.

**Lists** return \`{ data, next }\`. Send \`next\` as \`after\` to get the next page; \`null\` means that there are no
more.

**Idempotency-Key** (1 to 255 printable ASCII characters without spaces): a POST that is sent again with the same key
within 24 hours returns the stored answer and does nothing a second time, even while the first one is still running.
The same key with another path or body is 409 \`conflict\`. A request that was refused does not use up its key. Each
management key has its own idempotency keys.

**ETag and If-Match**: a resource that can be changed is returned with an \`ETag\`. If you send it back as \`If-Match\`,
the change is made only if the resource has not changed since; otherwise the answer is 409 \`conflict\`.

**Errors** are \`{ "error": { "message", "code" } }\`. Every answer has its id in \`X-Request-Id\`.

**Limits**: a management key may send ${requestsPerMinute} requests in any 60 seconds to each process of the gateway;
above that, the answer is 429 \`api_key_rpm_exceeded\` with \`Retry-After\`, in seconds. A body may have 1 MiB and must arrive within 15 s.

**Names**: ids, slugs and addresses of other workspaces are 404 \`not_found\`, as if they did not exist. A former slug
still finds its workspace, and the answer contains the current one.`;

/** The OpenAPI 3.1 document of the management API, made only from the declarations. */
export function openApiOf(operations: readonly Operation[]): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = { '/openapi.json': { get: ownAddress } };
  for (const operation of operations) {
    for (const binding of operation.http) {
      const method = binding.method.toLowerCase();
      paths[binding.path] = { ...paths[binding.path], [method]: described(operation, binding) };
    }
  }
  const nouns = new Set(operations.filter(({ http }) => http.length > 0).map(({ name }) => nounOf(name)));
  return {
    openapi: '3.1.0',
    info: { title: 'Model Gateway: management API', version: '1', description: overview },
    servers: [{ url: '/api/v1', description: 'This gateway.' }],
    security: [{ managementKey: [] }],
    tags: [...nouns].map((name) => ({ name })),
    paths,
    components: sharedParts,
  };
}

const ownAddress = {
  operationId: 'openApi',
  summary: 'This document.',
  description: 'No credential is needed.',
  security: [],
  responses: { 200: { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: {} } } } },
};

function described(operation: Operation, binding: HttpBinding): JsonSchema {
  const named = [...binding.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const rest = Object.entries(operation.fields).filter(([name]) => !named.includes(name));
  const inQuery = operation.kind === 'read' ? rest : [];
  const inBody = operation.kind === 'read' ? [] : rest;
  return {
    operationId: operationIdOf(operation, binding),
    tags: [nounOf(operation.name)],
    summary: operation.summary,
    description: whoMay(operation),
    ...(operation.apiKeys ? { security: [{ managementKey: [] }, { apiKey: [] }] } : {}),
    parameters: [
      ...named.map((name) => inPath(name, operation)),
      ...inQuery.map(([name, field]) => ({
        name,
        in: 'query',
        required: field.required,
        schema: querySchema(field),
      })),
      ...headersOf(operation, binding),
    ],
    ...(inBody.length > 0 ? { requestBody: bodyOf(inBody, binding) } : {}),
    responses: {
      [operation.kind === 'create' ? 201 : 200]: success(operation),
      ...errorResponses(operation),
    },
  };
}

/** "key.create" → "keyCreate"; if there are two paths, the one in a workspace says so. */
function operationIdOf({ name, http }: Operation, { path }: HttpBinding): string {
  const id = name.replace(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase());
  return http.length > 1 && path.includes('{workspace}') ? `${id}InWorkspace` : id;
}

function nounOf(name: string): string {
  return name.split('.')[0] ?? name;
}

function whoMay({ reach, permission, apiKeys }: Operation): string {
  if (reach === 'gateway') return 'Requires an operator key.';
  if (permission === null) return 'Any management key.';
  if (apiKeys)
    return `Requires the role ${rolesThatMay(permission)}, an operator key, or the API key that made the call.`;
  return `Requires the role ${rolesThatMay(permission)}, or an operator key.`;
}

function inPath(name: string, { fields }: Operation): JsonSchema {
  const field = fields[name];
  const schema = field
    ? querySchema(field)
    : {
        type: 'string',
        title: 'Workspace',
        description: 'Its slug, a former slug, or its id.',
        examples: ['acme'],
      };
  return { name, in: 'path', required: true, schema };
}

function headersOf({ kind }: Operation, { method }: HttpBinding): JsonSchema[] {
  if (kind === 'read') return [];
  if (method === 'POST') return [{ $ref: '#/components/parameters/IdempotencyKey' }];
  return method === 'DELETE' ? [] : [{ $ref: '#/components/parameters/IfMatch' }];
}

function bodyOf(fields: [string, Field][], { body }: HttpBinding): JsonSchema {
  const required = fields.filter(([, field]) => field.required).map(([name]) => name);
  const whole = fields.find(([name]) => name === body)?.[1];
  if (whole) return { required: true, content: { 'application/json': { schema: valueSchema(whole) } } };
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, valueSchema(field)])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
  return { required: required.length > 0, content: { 'application/json': { schema } } };
}

function success(operation: Operation): JsonSchema {
  const tagged = operation.kind === 'read' ? operation.state !== undefined : true;
  return {
    description: operation.summary,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(tagged ? { ETag: { $ref: '#/components/headers/ETag' } } : {}),
    },
    content: { 'application/json': { schema: outputSchema(operation) } },
  };
}
