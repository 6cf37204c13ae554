import { z } from 'zod';
import { type Field, type FieldFacts, optional } from '#lib/control/operations/field/field';
import { pattern, toggle } from '#lib/control/operations/field/kinds';
import { badInput } from '#lib/control/operations/refusal';
import { readCloudKey } from '#lib/core/facts/cloud-key';
import type { Auth, CloudKind } from '#lib/core/schemas/catalogue';

const visible = /^[\x21-\x7e]{1,2048}$/;
const plain = (facts: FieldFacts) =>
  optional(pattern(facts, visible, 'must be one line of printable characters without spaces'));

function secret(facts: FieldFacts) {
  const schema = z
    .string('a secret must be a string')
    .trim()
    .regex(/^[\x21-\x7e]{1,8192}$/, 'a secret must be one line of printable characters without spaces');
  const field: Field<string, true> = {
    placeholder: 'SECRET',
    ...facts,
    secret: true,
    kind: 'password',
    required: true,
    clearable: false,
    schema,
    fromText: (text) => text,
  };
  return optional(field);
}

/** The parts of a credential of a cloud, which are put together as JSON (contract: families/cloud-credentials). */
export const cloudFields = {
  tenant: plain({ label: 'Tenant', help: 'Id of the directory.', example: 'contoso.onmicrosoft.com' }),
  clientId: plain({
    label: 'Client id',
    help: 'Of the app registration; without a secret, of a managed identity.',
    example: '00000000-0000-0000-0000-000000000000',
  }),
  clientSecret: secret({ label: 'Client secret', help: 'It is never shown again.', example: 'secret' }),
  accessKeyId: plain({ label: 'Access key id', help: 'Of an IAM user.', example: 'AKIAIOSFODNN7EXAMPLE' }),
  secretAccessKey: secret({
    label: 'Secret access key',
    help: 'It is never shown again.',
    example: 'secret',
  }),
  sessionToken: secret({ label: 'Session token', help: 'Only of temporary keys.', example: 'token' }),
  role: plain({
    label: 'Role',
    help: 'ARN of a role to assume, with the keys or with the identity of the machine.',
    example: 'arn:aws:iam::123456789012:role/gateway',
  }),
  externalId: plain({ label: 'External id', help: 'If the role asks for one.', example: 'gateway' }),
  machine: optional(
    toggle({
      label: 'Identity of the machine',
      help: 'Uses the service account, managed identity or role of the machine instead of a secret.',
      example: true,
    }),
  ),
};

type Part = keyof typeof cloudFields;
export type CloudParts = { readonly [name in Part]?: string | boolean | undefined };

/** The parts that a form shows for a kind of provider, in their order. */
export const partsOf: Readonly<Record<CloudKind, readonly Part[]>> = {
  'google-service-account': ['machine'],
  'entra-id': ['tenant', 'clientId', 'clientSecret', 'machine'],
  'aws-sigv4': ['accessKeyId', 'secretAccessKey', 'sessionToken', 'role', 'externalId', 'machine'],
};

/**
 * The secret that the parts of a credential make; undefined: none was given.
 * @param auth of the provider; null: it takes only API keys.
 * @throws ControlRefused (invalid_body) for parts that the provider does not take, or that are not enough.
 */
export function cloudValue(auth: Auth | null, { machine = false, ...parts }: CloudParts): string | undefined {
  const given = Object.entries(parts).filter(([, part]) => part !== undefined);
  if (given.length === 0 && machine !== true) return undefined;
  const [first = 'machine'] = given[0] ?? [];
  if (auth === null) throw badInput(first, 'this provider takes an API key only; give it as the credential');
  const taken: readonly string[] = partsOf[auth.kind];
  const strange = given.find(([name]) => !taken.includes(name));
  if (strange) throw badInput(strange[0], 'providers of this cloud do not take it; leave it out');
  if (machine === true && given.length > 0) {
    throw badInput('machine', 'give either the identity of the machine or its parts');
  }
  return machine === true ? 'default' : checked(auth, JSON.stringify(Object.fromEntries(given)), first);
}

/**
 * A credential as it is stored: JSON without white space.
 * @throws ControlRefused (invalid_body) if the provider does not take it.
 */
export function credentialValue(auth: Auth | null, value: string): string {
  if (auth === null && !/\s/.test(value)) return value;
  if (auth === null || (!value.startsWith('{') && /\s/.test(value))) {
    throw badInput('value', 'a credential must be one line of printable characters without spaces');
  }
  return checked(auth, value, 'value');
}

function checked(auth: Auth, value: string, field: string): string {
  try {
    return readCloudKey(auth, value) === null || !value.startsWith('{')
      ? value
      : JSON.stringify(JSON.parse(value));
  } catch (error) {
    throw badInput(field, error instanceof RangeError ? error.message : 'this is not JSON');
  }
}
