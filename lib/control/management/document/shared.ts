import type { JsonSchema } from '#lib/control/management/document/values';
import type { Operation } from '#lib/control/operations/declare';

/** Components that the operations of the document refer to. */
export const sharedParts: JsonSchema = {
  securitySchemes: {
    managementKey: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'mgk_…',
      description:
        'A management key: of a workspace, with a role, or of the operator. API keys do not work here, except where it is said.',
    },
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'mg_…',
      description: 'The API key that made the call.',
    },
  },
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Makes it safe to send the request again within 24 hours: the same key returns the first answer.',
      schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
    },
    IfMatch: {
      name: 'If-Match',
      in: 'header',
      description: 'The ETag with which it was read: if it has changed since, the request is refused.',
      schema: { type: 'string' },
    },
  },
  headers: {
    RequestId: { description: 'The id of this answer.', schema: { type: 'string' } },
    ETag: { description: 'Identifies the current state, for If-Match.', schema: { type: 'string' } },
    RetryAfter: {
      description: 'Seconds to wait.',
      schema: { type: 'integer', minimum: 1, maximum: 60 },
    },
  },
  schemas: {
    Error: {
      type: 'object',
      properties: {
        error: {
          type: 'object',
          properties: {
            message: {
              type: 'string',
              description: 'What to do next. For invalid input, it begins with the field.',
            },
            code: { type: 'string', examples: ['invalid_body'] },
          },
          required: ['message', 'code'],
        },
      },
      required: ['error'],
    },
  },
  responses: {
    BadInput: errorResponse('`invalid_body`: a field is invalid; the message begins with its name.'),
    Unauthenticated: errorResponse(
      '`missing_platform_authorization` or `invalid_api_key`: the request has no active management key.',
    ),
    Denied: errorResponse('`permission_denied`: the message names the roles that are allowed.'),
    NotFound: errorResponse('`not_found`: it does not exist, or this key may not see it.'),
    Conflict: errorResponse(
      '`conflict`: it conflicts with something that exists, or was changed in the meantime.',
    ),
    TooFast: errorResponse('`api_key_rpm_exceeded`: too many requests a minute.', {
      'Retry-After': { $ref: '#/components/headers/RetryAfter' },
    }),
    Failed: errorResponse('`internal_error`: nothing was changed; try again.'),
    KeyNotResolved: errorResponse('`auth_resolve_failed`: the database is unavailable; try again.'),
  },
};

/** The errors that an operation may return. */
export function errorResponses({ kind, permission, reach }: Operation): JsonSchema {
  const refer = (name: string) => ({ $ref: `#/components/responses/${name}` });
  return {
    400: refer('BadInput'),
    401: refer('Unauthenticated'),
    ...(permission === null && reach !== 'gateway' ? {} : { 403: refer('Denied') }),
    404: refer('NotFound'),
    ...(kind === 'read' ? {} : { 409: refer('Conflict') }),
    429: refer('TooFast'),
    500: refer('Failed'),
    502: refer('KeyNotResolved'),
  };
}

function errorResponse(description: string, headers: JsonSchema = {}): JsonSchema {
  return {
    description,
    headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' }, ...headers },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}
