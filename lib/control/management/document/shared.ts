import type { JsonSchema } from '#lib/control/management/document/values';
import type { Operation } from '#lib/control/operations/declare';

/** What the operations of the document refer to. */
export const sharedParts: JsonSchema = {
  securitySchemes: {
    managementKey: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'mgk_…',
      description:
        'A management key, of a workspace with a role or of the operator. API keys are not good here.',
    },
  },
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description: 'Makes sending it again safe for 24 hours: the same key answers what it answered first.',
      schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
    },
    IfMatch: {
      name: 'If-Match',
      in: 'header',
      description: 'The ETag under which it was read: the change is refused if it was changed since.',
      schema: { type: 'string' },
    },
  },
  headers: {
    RequestId: { description: 'The id of this answer.', schema: { type: 'string' } },
    ETag: { description: 'The tag of what it is now, for If-Match.', schema: { type: 'string' } },
    RetryAfter: {
      description: 'Whole seconds to wait.',
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
              description: 'What to do next; of bad input, it begins with the field.',
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
    BadInput: errorResponse('`invalid_body`: a field cannot be what was sent; the message begins with it.'),
    Unauthenticated: errorResponse(
      '`missing_platform_authorization` or `invalid_api_key`: no management key in force was sent.',
    ),
    Denied: errorResponse('`permission_denied`: the message names the roles that may.'),
    NotFound: errorResponse('`not_found`: there is no such thing, or not for this key.'),
    Conflict: errorResponse('`conflict`: it collides with what is there, or was changed meanwhile.'),
    TooFast: errorResponse('`api_key_rpm_exceeded`: too many requests a minute.', {
      'Retry-After': { $ref: '#/components/headers/RetryAfter' },
    }),
    Failed: errorResponse('`internal_error`: nothing was changed; try again.'),
    KeyNotResolved: errorResponse('`auth_resolve_failed`: the database is away; try again.'),
  },
};

/** The errors that an operation may answer with. */
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
