/** An error of the simulated provider, before its family gives it a body. */
export class ProviderFault extends Error {
  readonly status: number;
  /** The provider's machine-readable code; null: none. */
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

export function missingParameter(name: string): ProviderFault {
  return new ProviderFault(400, `Missing required parameter: '${name}'.`, 'missing_required_parameter', name);
}

export function unknownParameter(name: string): ProviderFault {
  return new ProviderFault(400, `Unknown parameter: '${name}'.`, 'unknown_parameter', name);
}

export function invalidValue(name: string, value: string): ProviderFault {
  return new ProviderFault(400, `Invalid value: '${value}'.`, 'invalid_value', name);
}

/** The error object of api.openai.com. @param type of a refusal. */
export function errorObject({ status, message, code, param }: ProviderFault, type: string): object {
  return { message, type: status >= 500 ? 'server_error' : type, param, code };
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

/** The usual error with a status. */
export function faultOf(status: number): ProviderFault {
  const [message, code] = known[status] ?? ['The server had an error while processing your request.', null];
  return new ProviderFault(status, message, code);
}
