import { describe, expect, it } from 'vitest';
import { readForm } from '#lib/console/form';
import { credentialForms } from '#lib/console/gateway/credential-forms';
import { setCredential } from '#lib/control/operations/provider/credential';

const namesOf = (kind: keyof ReturnType<typeof credentialForms>) =>
  credentialForms()[kind].map(({ name }) => name);
const share = ['env', 'weight', 'priority', 'rpm', 'tpm', 'models'];

describe('the form of a credential', () => {
  it('has the parts that its provider takes (contract: families/cloud-credentials)', () => {
    expect(namesOf('key')).toEqual(['name', 'value', ...share]);
    expect(namesOf('google-service-account')).toEqual(['name', 'value', 'machine', ...share]);
    expect(namesOf('entra-id')).toEqual([
      ...['name', 'value', 'tenant', 'clientId', 'clientSecret', 'machine'],
      ...share,
    ]);
    expect(namesOf('aws-sigv4')).toEqual([
      ...['name', 'value', 'accessKeyId', 'secretAccessKey', 'sessionToken', 'role', 'externalId', 'machine'],
      ...share,
    ]);
  });

  it('hides secrets while they are typed, and sends no box that was left empty', () => {
    const secrets = credentialForms()['aws-sigv4'].filter(({ kind }) => kind === 'password');
    expect(secrets.map(({ name }) => name)).toEqual(['value', 'secretAccessKey', 'sessionToken']);
    const sent = { value: '', accessKeyId: 'AK', secretAccessKey: 's', sessionToken: '', role: '', env: '' };
    expect(readForm(setCredential.fields, sent)).toEqual({ accessKeyId: 'AK', secretAccessKey: 's' });
  });
});
