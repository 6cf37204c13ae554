import { isUtf8 } from 'node:buffer';
import { Denied } from '#lib/control/management/answer';
import { refusal } from '#lib/core/errors';

/** Requests a minute of one management key (contract: control-plane/management-limit). */
export const requestsPerMinute = 600;

/** How large a body may be, and how long it may take to arrive. */
export const mostBytes = 1024 * 1024;
export const longestBodyMs = 15_000;

export const bodyFaults = {
  large: 'The body is larger than 1 MiB; send a smaller one.',
  slow: 'The body took longer than 15 s to arrive; send it again.',
  cut: 'The connection was closed before the whole body arrived; send it again.',
  notUtf8: 'The body is not valid UTF-8; send JSON in UTF-8.',
};

export function badBody(fault: string): Denied {
  return new Denied(refusal('invalid_body', fault));
}

/** @throws Denied (invalid_body) for bytes that are not UTF-8. */
export function textOf(chunks: readonly Uint8Array[]): string {
  const body = Buffer.concat(chunks);
  if (!isUtf8(body)) throw badBody(bodyFaults.notUtf8);
  return body.toString('utf8');
}
