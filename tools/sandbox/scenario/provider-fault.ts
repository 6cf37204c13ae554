/** An error answer of the simulated provider, on its way to the family's own error shape. */
export class ProviderFault extends Error {
  readonly status: number;
  /** The provider's machine-readable code; null where it gives none. */
  readonly code: string | null;
  /** The request field that it complains about. */
  readonly param: string | null;

  constructor(status: number, message: string, code: string | null = null, param: string | null = null) {
    super(message);
    this.name = 'ProviderFault';
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

const known: Readonly<Record<number, readonly [message: string, code: string | null]>> = {
  400: ['The simulated provider refuses this request.', null],
  401: ['Incorrect API key provided: sk-sand****box.', 'invalid_api_key'],
  402: ['You have run out of credits.', 'insufficient_quota'],
  403: ['You are not allowed to use this model.', 'permission_denied'],
  404: ['The model does not exist or you do not have access to it.', 'model_not_found'],
  429: ['Rate limit reached for requests.', 'rate_limit_exceeded'],
  503: ['The engine is currently overloaded, please try again later.', null],
  529: ['Overloaded.', 'overloaded'],
};

/** The error that providers give with a status. */
export function faultOf(status: number): ProviderFault {
  const [message, code] = known[status] ?? ['The server had an error while processing your request.', null];
  return new ProviderFault(status, message, code);
}
