import { type FormField, formOf } from '#lib/console/form';
import type { Fields } from '#lib/control/operations/field/field';
import { partsOf } from '#lib/control/operations/provider/cloud-fields';
import { setCredential } from '#lib/control/operations/provider/credential';
import type { CloudKind } from '#lib/core/schemas/catalogue';

const { name, value, env, weight, priority, models, ...parts } = setCredential.fields;

/** The form of a credential; those of a cloud have the parts of its identities. */
function fieldsFor(kind: CloudKind | null): readonly FormField[] {
  const own: Fields = Object.fromEntries(
    (kind === null ? [] : partsOf[kind]).map((part) => [part, parts[part]]),
  );
  return formOf({
    name: { ...name, required: true },
    value:
      kind === null
        ? { ...value, help: 'The credential from the provider; it is never shown again.' }
        : { ...value, label: cloudLabels[kind] },
    ...own,
    env: { ...env, label: 'Or an environment variable' },
    weight,
    priority,
    models,
  });
}

const cloudLabels: Readonly<Record<CloudKind, string>> = {
  'google-service-account': 'JSON key of a service account',
  'entra-id': 'API key',
  'aws-sigv4': 'API key',
};

/** The fields of the form for a credential: of API keys, and of each kind of cloud. */
export const credentialForms: Readonly<Record<CloudKind | 'key', readonly FormField[]>> = {
  key: fieldsFor(null),
  'google-service-account': fieldsFor('google-service-account'),
  'entra-id': fieldsFor('entra-id'),
  'aws-sigv4': fieldsFor('aws-sigv4'),
};
