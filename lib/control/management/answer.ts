import { ControlRefused, controlCodes } from '#lib/control/operations/refusal';
import { errorTable, type Refusal, reasonPhrase } from '#lib/core/errors';

/** The answer: status, headers in lower case, the body. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Of an error: its message, as the reason phrase of HTTP/1.1. */
  readonly reason?: string;
}

/** Error codes of the gateway that `/api/v1` also returns; the table of codes has the status. */
export class Denied extends Error {
  readonly refusal: Refusal;
  /** @param cause what failed, for the log, if anything did. */
  constructor(refusal: Refusal, cause?: unknown) {
    super(refusal.message, { cause });
    this.name = 'Denied';
    this.refusal = refusal;
  }
}

export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return { status, headers, body: JSON.stringify(body) };
}

/**
 * An error in the gateway's own shape (contract: request/error-shape).
 * @param report called with unexpected errors, which the answer does not describe.
 */
export function errorAnswer(error: unknown, report: (error: unknown) => void): HttpAnswer {
  if (error instanceof ControlRefused) {
    return errorOf(controlCodes[error.code], error.code, error.message);
  }
  if (error instanceof Denied) {
    if (error.cause !== undefined) report(error.cause);
    const { code, message, allow, retryAfterSeconds } = error.refusal;
    return errorOf(errorTable[code].status, code, message, {
      ...(allow === undefined ? {} : { allow }),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(errorTable[code].status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    });
  }
  report(error);
  const text =
    'The gateway could not complete this request, and nothing was changed. Try again; if it keeps failing, tell its operator.';
  return errorOf(500, 'internal_error', text);
}

function errorOf(status: number, code: string, message: string, headers = {}): HttpAnswer {
  return { ...json(status, { error: { message, code } }, headers), reason: reasonPhrase({ message }) };
}
