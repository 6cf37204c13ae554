import { z } from 'zod';
import type { Auth } from '#lib/core/schemas/catalogue';

/** The word that stands for the identity of the machine: a service account, a managed identity, a role. */
const machine = 'default';

const text = z.string().min(1).max(2048);

/** A key file of Google: of a service account, or a description of a workload identity. */
const google = z.union([
  z.looseObject({
    type: z.literal('service_account'),
    client_email: text,
    private_key: z.string().startsWith('-----BEGIN '),
    token_uri: z.url().optional(),
  }),
  z.looseObject({ type: z.enum(['external_account', 'authorized_user', 'impersonated_service_account']) }),
]);

const entra = z.union([
  z.strictObject({ tenant: text, clientId: text, clientSecret: text }),
  /** An identity of the machine other than its own first one. */
  z.strictObject({ clientId: text }),
]);

const aws = z
  .strictObject({
    accessKeyId: text.optional(),
    secretAccessKey: text.optional(),
    sessionToken: z.string().min(1).max(8192).optional(),
    /** ARN of a role that is assumed with the keys, or without them with the machine's identity. */
    role: text.regex(/^arn:/).optional(),
    externalId: text.optional(),
  })
  .refine((key) => (key.accessKeyId === undefined) === (key.secretAccessKey === undefined))
  .refine((key) => key.accessKeyId !== undefined || key.role !== undefined);

/** What a credential of a cloud gets tokens or signs with; without its `key`, it is the identity of the machine. */
export type CloudKey =
  | { readonly kind: 'google-service-account'; readonly key: z.output<typeof google> | null }
  | { readonly kind: 'entra-id'; readonly key: z.output<typeof entra> | null }
  | { readonly kind: 'aws-sigv4'; readonly key: z.output<typeof aws> | null };

/** What each kind of credential is, for messages. */
const wanted: Readonly<Record<Auth['kind'], string>> = {
  'google-service-account': 'the JSON key of a service account, the JSON of a workload identity',
  'entra-id': 'JSON with tenant, clientId and clientSecret, or only the clientId of a managed identity',
  'aws-sigv4': 'JSON with accessKeyId and secretAccessKey, and optional sessionToken, role and externalId',
};

/**
 * Reads a credential of a provider with `auth` (contract: families/cloud-credentials). Pure.
 * @returns null: it is a plain API key, which is sent as it is.
 * @throws RangeError if it is neither; the message quotes nothing of it.
 */
export function readCloudKey({ kind }: Auth, secret: string): CloudKey | null {
  if (secret === machine) return { kind, key: null };
  if (!secret.startsWith('{')) return null;
  const json = parsed(secret);
  if (json === null)
    throw new RangeError(
      `a credential of the kind ${kind} begins like JSON, but is not valid JSON: in a file of variables, write it in one line and in single quotes`,
    );
  const read = keyOf(kind, json);
  if (read !== null) return read;
  throw new RangeError(`a credential of the kind ${kind} is ${wanted[kind]}, "${machine}" or an API key`);
}

function keyOf(kind: Auth['kind'], json: unknown): CloudKey | null {
  switch (kind) {
    case 'google-service-account': {
      const key = google.safeParse(json).data;
      return key ? { kind, key } : null;
    }
    case 'entra-id': {
      const key = entra.safeParse(json).data;
      return key ? { kind, key } : null;
    }
    case 'aws-sigv4': {
      const key = aws.safeParse(json).data;
      return key ? { kind, key } : null;
    }
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
