import { setCredential } from '#lib/control/operations/provider/credential';

const { name, value, env, weight, priority, models } = setCredential.fields;
/** The fields of the form for a credential. */
export const credentialFields = {
  name: { ...name, required: true },
  value,
  env: { ...env, label: 'Or an environment variable' },
  weight,
  priority,
  models,
};
