import { type FormField, formOf } from '#lib/console/form';
import type { Fields } from '#lib/control/operations/field/field';
import { partsOf } from '#lib/control/operations/provider/cloud-fields';
import { setCredential } from '#lib/control/operations/provider/credential';
import { type CloudKind, cloudKinds } from '#lib/core/schemas/catalogue';

/** Fields of the form of a credential: of API keys, and of each kind of cloud. */
export type CredentialForms = Readonly<Record<CloudKind | 'key', readonly FormField[]>>;

const { name, value, env, weight, priority, rpm, tpm, models, ...parts } = setCredential.fields;

const labels: Readonly<Record<CloudKind, string>> = {
  'google-service-account': 'JSON key of a service account',
  'entra-id': 'API key',
  'aws-sigv4': 'API key',
};

/** The forms of credentials by what their providers take. */
export function credentialForms(): CredentialForms {
  const clouds = cloudKinds.map((kind) => [kind, formFor(kind)] as const);
  return { key: formFor(null), ...(Object.fromEntries(clouds) as Record<CloudKind, FormField[]>) };
}

function formFor(kind: CloudKind | null): FormField[] {
  const help = 'The credential from the provider; it is never shown again.';
  const own: Fields = Object.fromEntries(
    (kind === null ? [] : partsOf[kind]).map((part) => [part, parts[part]]),
  );
  return formOf({
    name: { ...name, required: true },
    value: { ...value, ...(kind === null ? {} : { label: labels[kind] }), help },
    ...own,
    env: { ...env, label: 'Or an environment variable' },
    weight,
    priority,
    rpm,
    tpm,
    models,
  });
}
