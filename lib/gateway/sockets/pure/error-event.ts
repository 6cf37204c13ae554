import type { HeaderList } from '#lib/gateway/flow/lane';

/** Why a request of a connection fails, without a call. */
export interface SocketFault {
  readonly fault: string;
  readonly code: string;
  readonly param: string | null;
  readonly lane: string | null;
}

/** @param message what to do next. */
export function invalidEvent(message: string, param: string | null, lane: string | null = null): SocketFault {
  return { fault: message, code: 'invalid_body', param, lane };
}

/** The event of a fault (contract: sockets/socket-errors). */
export function faultEvent({ fault, code, param, lane }: SocketFault): string {
  return eventOf(lane, 400, { type: 'invalid_request_error', code, message: fault, param });
}

/** What is known of a call that failed. */
interface FailedAnswer {
  readonly lane: string | null;
  readonly status: number;
  readonly headers: HeaderList;
  /** The body of its HTTP answer. */
  readonly body: string;
  /** The response that it continues. */
  readonly previous: string | null;
}

/** Headers of an HTTP answer that an error event carries too. */
const toldHeaders = ['x-request-id', 'retry-after', 'x-should-retry'];

/** The event of a call that failed (contract: sockets/socket-errors). */
export function errorEvent({ lane, status, headers, body, previous }: FailedAnswer): string {
  const error = errorIn(body);
  const told = Object.fromEntries(
    toldHeaders.flatMap((name) => {
      const at = headers.findIndex((text, place) => place % 2 === 0 && text === name);
      return at < 0 ? [] : [[name, headers[at + 1] ?? '']];
    }),
  );
  // Clients know by this code that they must send the whole input.
  if (previous !== null && error.code === 'not_found') {
    const missing = { ...error, code: 'previous_response_not_found', param: 'previous_response_id' };
    return eventOf(lane, 400, { type: 'invalid_request_error', ...missing }, told);
  }
  const type = status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error';
  return eventOf(lane, status, { type, ...error }, told);
}

function errorIn(body: string): Readonly<Record<string, unknown>> {
  try {
    const answer: unknown = JSON.parse(body);
    const error = isObject(answer) ? answer.error : null;
    if (isObject(error)) return error;
  } catch {
    // It is not JSON: its text is the message.
  }
  return { code: 'upstream_request_failed', message: body.slice(0, 1_000) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function eventOf(lane: string | null, status: number, error: object, headers?: object): string {
  return JSON.stringify({
    type: 'error',
    ...(lane === null ? {} : { stream_id: lane }),
    status,
    error,
    ...(headers ? { headers } : {}),
  });
}

/** The answer to a `response.steer`, which is given back (contract: sockets/socket-errors). */
export function steerFailed(event: string): string {
  const { previous_response_id, input }: { previous_response_id?: unknown; input?: unknown } =
    JSON.parse(event);
  return JSON.stringify({
    type: 'response.steer.failed',
    sequence_number: 0,
    error: {
      type: 'invalid_request_error',
      code: 'steering_not_supported',
      message: 'This gateway does not steer responses; send the input with the next "response.create".',
    },
    steer: { previous_response_id, input },
  });
}
