import { describe, expect, it } from 'vitest';
import type { FamilyId } from '#lib/core/families/ids';
import { familyOf } from '#lib/core/families/index';

function family(id: FamilyId) {
  const found = familyOf(id);
  if (!found) throw new Error(`no family ${id}`);
  return found;
}

const openai = (code: string | null, message: string, param: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
});
const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message } });
const google = (code: number, status: string, message: string, details: object[] = []) => ({
  error: { code, status, message, details },
});

type Row = readonly [family: FamilyId, status: number | null, body: unknown];

function told(rows: readonly Row[], whose: string, kind: string) {
  it.each(rows)('%s %j %j', (id, status, body) => {
    expect(family(id).faultOf(status, body)).toMatchObject({ whose, kind });
  });
}

const gone: readonly Row[] = [
  ['chat', 404, openai('model_not_found', 'The model `m` does not exist or you do not have access to it.')],
  ['chat', 404, { error: { message: 'The model m does not exist or you do not have access to it.' } }],
  ['responses', 400, openai('model_not_found', "The requested model 'm' does not exist.", 'model')],
  ['chat', 403, openai('model_not_found', 'Project `p` does not have access to model `m`')],
  [
    'chat',
    400,
    openai('model_decommissioned', 'The model `m` has been decommissioned and is no longer supported.'),
  ],
  ['chat', 400, { object: 'error', message: 'Invalid model: m', type: 'invalid_model', code: '1500' }],
  [
    'chat',
    404,
    { error: { message: 'Not found the model m or Permission denied', type: 'resource_not_found_error' } },
  ],
  ['chat', 404, openai('NOT_FOUND', 'Model not found, inaccessible, and/or not deployed')],
  [
    'chat',
    404,
    {
      error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' },
    },
  ],
  ['chat', 400, { error: { code: '1211', message: 'Unknown Model, please check the model code.' } }],
  ['chat', 404, { status: 404, title: 'Not Found', detail: "Function 'f': Not found for account 'a'" }],
  [
    'chat',
    410,
    { title: 'Gone', status: 410, detail: "The model 'm' has reached its end of life on 2026-05-14." },
  ],
  ['messages', 404, anthropic('not_found_error', 'model: claude-x')],
  ['messages', 404, anthropic('not_found_error', 'Not found')],
  ['generate-content', 404, google(404, 'NOT_FOUND', 'models/m is not found for API version v1beta.')],
  ['generate-content', 404, [google(404, 'NOT_FOUND', 'Requested entity was not found.')]],
  ['generate-content', 404, google(404, 'NOT_FOUND', 'Publisher Model `projects/p/models/m` was not found.')],
  ['images', 404, openai('model_not_found', 'x')],
  ['videos', 404, openai(null, 'The model `m` does not exist', 'model')],
  ['chat', 410, null],
  ['chat', null, openai('model_not_found', 'x')],
  ['messages', null, anthropic('not_found_error', 'model: claude-x')],
];

const quota: readonly Row[] = [
  ['chat', 402, {}],
  ['chat', 429, openai('insufficient_quota', 'You exceeded your current quota')],
  ['images', 400, openai('billing_hard_limit_reached', 'Billing hard limit has been reached')],
  [
    'chat',
    400,
    { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' },
  ],
  [
    'chat',
    412,
    openai('PRECONDITION_FAILED', 'Account acme is suspended, possibly due to reaching the limit.'),
  ],
  ['chat', 429, { error: { code: '1113', message: 'Insufficient balance or no resource package.' } }],
  ['messages', 400, anthropic('invalid_request_error', 'Your credit balance is too low to access the API.')],
  ['messages', 400, anthropic('invalid_request_error', 'You have reached your specified API usage limits.')],
  [
    'messages',
    400,
    { type: 'error', error: { type: 'x', details: { error_code: 'enforced_spend_limit_reached' } } },
  ],
  ['responses', null, { type: 'error', code: 'insufficient_quota', message: 'x' }],
  ['responses', null, { type: 'response.failed', response: { error: { code: 'insufficient_quota' } } }],
  ['chat', null, { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }],
];

const region: readonly Row[] = [
  [
    'generate-content',
    400,
    google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
  ],
  [
    'chat',
    403,
    openai('unsupported_country_region_territory', 'Country, region, or territory not supported'),
  ],
  [
    'chat',
    400,
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: JSON.stringify(
            google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
          ),
        },
      },
    },
  ],
];

const credential: readonly Row[] = [
  ['chat', 401, null],
  ['chat', 403, 'text'],
  ['chat', 400, openai('invalid_api_key', 'x')],
  [
    'chat',
    400,
    { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: ab***cd.' },
  ],
  ['chat', 400, [{ error: { code: 400, message: 'API key not valid. Please pass a valid API key.' } }]],
  ['generate-content', 400, google(400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.')],
  ['generate-content', 400, google(400, 'INVALID_ARGUMENT', 'x', [{ reason: 'API_KEY_INVALID' }])],
  ['messages', 400, anthropic('authentication_error', 'x')],
  ['messages', 400, anthropic('invalid_request_error', 'This organization has been disabled.')],
  ['messages', 400, { type: 'error', error: { details: { error_code: 'organization_on_hold' } } }],
  ['messages', 400, { error: { message: 'Invalid API key' } }],
];

const overload: readonly Row[] = [
  ['messages', 529, anthropic('overloaded_error', 'Overloaded')],
  ['chat', 529, null],
  ['chat', 498, { error: { type: 'capacity_exceeded', message: 'Flex capacity exceeded' } }],
  [
    'chat',
    429,
    { error: { type: 'engine_overloaded_error', message: 'The engine is currently overloaded' } },
  ],
  ['messages', null, anthropic('overloaded_error', 'Overloaded')],
  ['generate-content', 503, google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.')],
];

const limited: readonly Row[] = [
  ['chat', 429, null],
  ['chat', null, { error: { code: 429, message: 'x' }, choices: [] }],
  ['generate-content', 429, google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.')],
  ['messages', null, anthropic('rate_limit_error', 'x')],
];

const server: readonly Row[] = [
  ...[408, 425, 499, 500, 501, 502, 503, 504, 520, 527, 530, 598, 599].map(
    (status): Row => ['chat', status, null],
  ),
  ['messages', null, anthropic('api_error', 'Internal server error')],
  [
    'responses',
    null,
    { type: 'response.failed', response: { error: { code: 'server_error', message: 'x' } } },
  ],
  [
    'chat',
    null,
    { choices: [{ error: { code: 502, message: 'Provider disconnected' }, finish_reason: 'error' }] },
  ],
  ['chat', 500, openai('context_length_exceeded', 'maximum context length')],
];

const invalid: readonly Row[] = [
  ['chat', 400, null],
  ['chat', 400, openai('invalid_value', 'max_tokens is too large')],
  ['chat', 422, { detail: [{ type: 'extra_forbidden', msg: 'Extra inputs are not permitted' }] }],
  ['responses', 404, openai(null, "Response with id 'resp_1' not found.")],
  [
    'responses',
    400,
    openai('previous_response_not_found', "Previous response with id 'r' not found.", 'previous_response_id'),
  ],
  ['responses', 404, openai(null, 'No such File object: file-model', 'input[0].file_id')],
  ['responses', 404, openai(null, "Container with id 'c' of the model not found.")],
  ['messages', 404, anthropic('not_found_error', 'File not found: file_model.pdf')],
  ['generate-content', 400, google(400, 'INVALID_ARGUMENT', 'Unknown name "x".')],
  ['generate-content', 404, google(404, 'NOT_FOUND', 'Operation not found.')],
  [
    'generate-content',
    403,
    google(
      403,
      'PERMISSION_DENIED',
      'You do not have permission to access the File abc or it may not exist.',
    ),
  ],
  [
    'generate-content',
    403,
    google(403, 'PERMISSION_DENIED', 'CachedContent not found (or permission denied)'),
  ],
  [
    'responses',
    null,
    { type: 'response.failed', response: { error: { code: 'invalid_prompt', message: 'x' } } },
  ],
  ['chat', 424, openai(null, 'The MCP server refused.')],
];

describe('whose fault an error is (contract: families/faults)', () => {
  describe('the operator’s: the model is gone', () => told(gone, 'operator', 'model_gone'));
  describe('the operator’s: the account is used up', () => told(quota, 'operator', 'quota'));
  describe('the operator’s: the region', () => told(region, 'operator', 'region'));
  describe('the operator’s: the credential', () => told(credential, 'operator', 'credential'));
  describe('the operator’s: an address that does not exist', () => {
    const rows: readonly Row[] = [
      ['chat', 404, null],
      ['chat', 404, { detail: 'Not Found' }],
      ['responses', 404, { error: { code: '404', message: 'Resource not found' } }],
    ];
    told(rows, 'operator', 'unknown');
  });
  describe('the provider’s: it is overloaded', () => told(overload, 'provider', 'overload'));
  describe('the provider’s: it limits the rate', () => told(limited, 'provider', 'rate_limit'));
  describe('the provider’s: it fails', () => told(server, 'provider', 'server'));
  describe('the provider’s: an error inside a 200 that says nothing known', () => {
    told(
      [
        ['chat', null, { error: {} }],
        ['messages', null, null],
      ],
      'provider',
      'unknown',
    );
  });
  describe('the client’s: the request', () => told(invalid, 'client', 'invalid_request'));
  describe('the client’s: more than the context takes', () => {
    const rows: readonly Row[] = [
      ['chat', 400, openai('context_length_exceeded', "This model's maximum context length is 8 tokens.")],
      [
        'messages',
        400,
        anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
      ],
      [
        'generate-content',
        400,
        google(400, 'INVALID_ARGUMENT', 'The input token count (9) exceeds the maximum'),
      ],
      ['chat', null, openai('context_length_exceeded', 'x')],
    ];
    told(rows, 'client', 'context_length');
  });

  it.each([
    "Invalid value: 'invalid api key'. Supported values are: 'user'.",
    "Invalid value: 'billing hard limit has been reached'.",
    "Unknown parameter: 'User location is not supported'.",
    `${'x'.repeat(300)} invalid api key`,
    "Invalid 'tools[0]': the model `x` does not exist",
  ])('is not read from what an error quotes of the client: %s', (message) => {
    for (const id of ['chat', 'responses', 'messages', 'generate-content'] as const) {
      expect(family(id).faultOf(400, { error: { message } }).whose).toBe('client');
    }
  });

  it('reads any bytes without an error', () => {
    const odd = [[], [[]], 7, 'x', { error: [] }, { error: { code: {}, message: 5, details: [null, 1] } }];
    for (const body of [...odd, { error: { metadata: { raw: '{' } } }, { choices: {} }, { errors: [null] }]) {
      for (const id of ['chat', 'messages'] as const)
        expect(family(id).faultOf(400, body).whose).toBe('client');
    }
  });
});

describe('the wait that an error names (contract: families/faults)', () => {
  const detail = (retryDelay: string) =>
    google(429, 'RESOURCE_EXHAUSTED', 'x', [{ '@type': 'RetryInfo', retryDelay }]);
  it.each([
    [detail('17s'), 17_000],
    [detail('17.5s'), 17_500],
    [openai('rate_limit_exceeded', 'Rate limit reached. Please try again in 1.2s. Visit x'), 1_200],
    [openai('rate_limit_exceeded', 'Please try again in 20ms.'), 20],
    [openai('rate_limit_exceeded', 'Please try again in 6m0s.'), 360_000],
    [openai('rate_limit_exceeded', 'Please try again in 1h2m3s.'), 3_723_000],
    [openai('429', 'Please retry after 7 seconds.'), 7_000],
    [{ error: { code: 429, metadata: { retry_after: 3 } } }, 3_000],
    [openai('x', 'Please try again in 9999999h'), 86_400_000],
    [openai('x', 'Please try again in a moment'), null],
    [openai('x', 'Please try again in 5 parsecs'), null],
    [null, null],
  ])('%j', (body, waitMs) => expect(family('generate-content').faultOf(429, body).waitMs).toBe(waitMs));
});
