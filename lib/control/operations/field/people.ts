import { z } from 'zod';
import type { Field, FieldFacts } from '#lib/control/operations/field/field';
import { isTimeZone } from '#lib/core/time-zone';

const isText = 'must be a string';

/**
 * An email address in lower case without surrounding spaces: addresses are compared without case
 * (contract: control-plane/emails).
 */
export function email(facts: FieldFacts): Field<string, true> {
  const message = 'must be an email address such as ann@example.com';
  const schema = z.string(isText).transform(normalEmail).pipe(z.email(message).max(320, message));
  return { placeholder: 'E', ...facts, kind: 'email', required: true, clearable: false, schema, fromText };
}

/** The form in which addresses are stored and looked up. */
export function normalEmail(text: string): string {
  return text.trim().toLowerCase();
}

/**
 * A new password: 10 to 256 characters. `run` has to check that it is not a common one
 * (contract: control-plane/passwords).
 */
export function password(facts: FieldFacts): Field<string, true> {
  const schema = z
    .string(isText)
    // A character outside the Basic Multilingual Plane counts as one, not two.
    .refine((text) => [...text].length >= 10, 'a password must have at least 10 characters')
    .refine((text) => [...text].length <= 256, 'a password may have at most 256 characters')
    .refine((text) => text.isWellFormed(), 'a password must not contain invalid Unicode characters');
  const shown = { placeholder: 'P', ...facts, secret: true };
  return { ...shown, kind: 'password', required: true, clearable: false, schema, fromText };
}

/** An IANA time zone: "Europe/Berlin", "UTC"; not an offset such as "+01:00". */
export function timeZone(facts: FieldFacts): Field<string, true> {
  const schema = z
    .string(isText)
    .trim()
    .max(64, 'a time zone may have at most 64 characters')
    .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin or UTC');
  return { placeholder: 'ZONE', ...facts, kind: 'text', required: true, clearable: false, schema, fromText };
}

function fromText(text: string): string {
  return text;
}
