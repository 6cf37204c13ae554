import { z } from 'zod';
import type { Field, FieldFacts } from '#lib/control/operations/field/field';
import { isTimeZone } from '#lib/core/time-zone';

const isText = 'it is a text';

/**
 * An e-mail address in lower case without surrounding spaces: addresses compare without case
 * (contract: control-plane/emails).
 */
export function email(facts: FieldFacts): Field<string, true> {
  const message = 'not an e-mail address; write one like ann@example.com';
  const schema = z.string(isText).transform(normalEmail).pipe(z.email(message).max(320, message));
  return { placeholder: 'E', ...facts, kind: 'email', required: true, clearable: false, schema, fromText };
}

/** As users are found by it. */
export function normalEmail(text: string): string {
  return text.trim().toLowerCase();
}

/**
 * A new password: 10 to 256 characters. Whether it is a common one is for `run` to ask
 * (contract: control-plane/passwords).
 */
export function password(facts: FieldFacts): Field<string, true> {
  const schema = z
    .string(isText)
    // A character outside of the Basic Multilingual Plane is one, not two.
    .refine((text) => [...text].length >= 10, 'a password has at least 10 characters')
    .refine((text) => [...text].length <= 256, 'a password has at most 256 characters')
    .refine((text) => text.isWellFormed(), 'a password holds no half characters');
  const shown = { placeholder: 'P', ...facts, secret: true };
  return { ...shown, kind: 'password', required: true, clearable: false, schema, fromText };
}

/** An IANA time zone: "Europe/Berlin", "UTC"; an offset such as "+01:00" is none. */
export function timeZone(facts: FieldFacts): Field<string, true> {
  const schema = z
    .string(isText)
    .trim()
    .max(64, 'a time zone has at most 64 characters')
    .refine(isTimeZone, 'not a known IANA time zone; write one like Europe/Berlin or UTC');
  return { placeholder: 'ZONE', ...facts, kind: 'text', required: true, clearable: false, schema, fromText };
}

function fromText(text: string): string {
  return text;
}
