/** Why an operation was refused, with its HTTP status on `/api/v1` (contract: control-plane/own-codes). */
export const controlCodes = {
  invalid_body: 400,
  permission_denied: 403,
  not_found: 404,
  conflict: 409,
  billing_not_configured: 503,
  billing_unreachable: 503,
  content_store_unreachable: 503,
} as const;
export type ControlCode = keyof typeof controlCodes;

/**
 * An operation was refused and nothing was changed. `text` says what to do instead, without the name of
 * the field, which each adapter shows in its own way: before the text, as a flag, or next to the field on a form.
 */
export class ControlRefused extends Error {
  readonly code: ControlCode;
  /** Path of the invalid input ("models.0"); null if it is not a single field. */
  readonly field: string | null;
  readonly text: string;
  constructor(code: ControlCode, text: string, field: string | null = null, options?: ErrorOptions) {
    super(field === null ? text : `${field}: ${text}`, options);
    this.name = 'ControlRefused';
    this.code = code;
    this.field = field;
    this.text = text;
  }
}

/**
 * 404: there is no such thing, or it belongs to another workspace, which looks the same to the caller
 * (contract: control-plane/others).
 */
export function notFound(text: string, field: string | null = null): ControlRefused {
  return new ControlRefused('not_found', text, field);
}

/** 400: the field has an invalid value (contract: control-plane/bad-input). */
export function badInput(field: string | null, text: string): ControlRefused {
  return new ControlRefused('invalid_body', text, field);
}

/** 409: it conflicts with the current state (contract: control-plane/conflict). */
export function conflict(text: string, field: string | null = null): ControlRefused {
  return new ControlRefused('conflict', text, field);
}

/** Input quoted for a message: cut to 80 characters, control characters escaped. */
export function quoted(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 79)}…` : text;
  return JSON.stringify(short.toWellFormed()).replace(
    /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
