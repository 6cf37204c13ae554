import { type MachineFault, machineFaultOf } from '#lib/core/machine-fault';

/** Every error code of the gateway itself (contract: request/error-codes). */
export const errorTable = {
  invalid_body: { status: 400 },
  model_not_allowed: { status: 400 },
  max_output_tokens_exceeded: { status: 400 },
  missing_platform_authorization: { status: 401 },
  invalid_api_key: { status: 401 },
  quota_exceeded: { status: 402 },
  insufficient_balance: { status: 402 },
  day_limit_reached: { status: 402 },
  d7_limit_reached: { status: 402 },
  d30_limit_reached: { status: 402 },
  apikey_inactive: { status: 403 },
  not_found: { status: 404 },
  method_not_allowed: { status: 405 },
  results_not_charged: { status: 409 },
  idempotency_key_in_use: { status: 409 },
  hydrate_cooldown: { status: 429 },
  api_key_rpm_exceeded: { status: 429 },
  api_key_tpm_exceeded: { status: 429 },
  api_key_concurrency_exceeded: { status: 429 },
  workspace_rpm_exceeded: { status: 429 },
  workspace_tpm_exceeded: { status: 429 },
  workspace_concurrency_exceeded: { status: 429 },
  provider_limit_exceeded: { status: 429 },
  identifier_generation_failed: { status: 500 },
  resolver_not_configured: { status: 500 },
  local_quota_not_configured: { status: 500 },
  auth_resolve_failed: { status: 502 },
  rate_limit_config_invalid: { status: 502 },
  missing_upstream_base_url: { status: 502 },
  invalid_upstream_base_url: { status: 502 },
  upstream_request_failed: { status: 502 },
} as const;

export type ErrorCode = keyof typeof errorTable;

/** Why the gateway refused a call: a value, so that pure code can return it. */
export interface Refusal {
  readonly code: ErrorCode;
  /** One sentence that says what to do next; never quotes a secret. */
  readonly message: string;
  /** Whole seconds, 1 to 60 (contract: limits/retry-after). */
  readonly retryAfterSeconds?: number;
  /** Overrides the default of `shouldRetry` below (a 402 that is only due to running calls). */
  readonly shouldRetry?: boolean;
  /** The `Allow` header of a 405. */
  readonly allow?: string;
  /**
   * Overrides the status of the code: a WebSocket handshake is refused with 426
   * (contract: request/method-not-allowed).
   */
  readonly status?: 426;
  /** `details` of the error, by which an SDK goes on another way (contract: request/error-shape). */
  readonly details?: object;
  /** What this machine was short of: it is in the call log, not in the answer. */
  readonly machineFault?: MachineFault;
  /** Flag of the refused call's row in the log: whose limit it was, if not its key's or workspace's. */
  readonly flag?: string;
}

/** A refusal on its way to the one error exit of `serve`. */
export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = 'Refused';
    this.refusal = refusal;
  }
}

/** @returns a refusal value; `extra` carries headers that belong to it. */
export function refusal(
  code: ErrorCode,
  message: string,
  extra: Omit<Refusal, 'code' | 'message'> = {},
): Refusal {
  return { code, message, ...extra };
}

/**
 * 500 `local_quota_not_configured` (contract: admission/coordinator): this process cannot keep its books now.
 * @param why what it cannot do: "cannot write its journal".
 * @param cause the error that kept it from it.
 */
export function unaccountable(why: string, cause?: unknown): Refusal {
  const machineFault = machineFaultOf(cause);
  return refusal(
    'local_quota_not_configured',
    `This gateway process ${why}; retry, and tell its operator if the problem persists.`,
    machineFault ? { machineFault } : {},
  );
}

/** Whether a result of a step is a refusal. */
export function isRefusal(value: unknown): value is Refusal {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Refusal).code === 'string' &&
    (value as Refusal).code in errorTable &&
    typeof (value as Refusal).message === 'string'
  );
}

export function statusOf(refused: Refusal): number {
  return refused.status ?? errorTable[refused.code].status;
}

/**
 * `x-should-retry`: 400, 401, 402 and 403 say no (contract: request/should-retry); null leaves the client's own rule.
 */
export function shouldRetry(refused: Refusal): boolean | null {
  if (refused.shouldRetry !== undefined) return refused.shouldRetry;
  const status = statusOf(refused);
  return status >= 400 && status <= 403 ? false : null;
}

/** The body of an error (contract: request/error-shape). */
export function errorBody({ message, code, details }: Pick<Refusal, 'code' | 'message' | 'details'>): string {
  return JSON.stringify({ error: { message, code, details } });
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The same with where it was thrown, for a log. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

const LONGEST_REASON = 200;

/**
 * The message as HTTP/1.1 reason phrase (contract: request/error-message), which is all that some clients show of an
 * error: printable ASCII, at most 200 bytes.
 */
export function reasonPhrase({ message }: Pick<Refusal, 'message'>): string {
  const plain = message.replace(/…/g, '...').replace(/[^\x20-\x7e]+/g, '?');
  return plain.length > LONGEST_REASON ? `${plain.slice(0, LONGEST_REASON - 3)}...` : plain;
}

/**
 * Seconds to wait in the words that clients look for in the message, in addition to `Retry-After`
 * (contract: request/retry-in).
 */
export function retryIn(seconds: number): string {
  return `Please retry in ${seconds}s.`;
}
