import { describe, expect, it } from 'vitest';
import { cloudValue, credentialValue } from '#lib/control/operations/provider/cloud-fields';
import { readCloudKey } from '#lib/core/facts/cloud-key';

const aws = { kind: 'aws-sigv4' } as const;
const entra = { kind: 'entra-id' } as const;
const google = { kind: 'google-service-account' } as const;

describe('a credential of a cloud (contract: families/cloud-credentials)', () => {
  it('is an API key, the identity of the machine, or JSON of its kind', () => {
    expect(readCloudKey(aws, 'bedrock-api-key')).toBeNull();
    expect(readCloudKey(entra, 'default')).toEqual({ kind: 'entra-id', key: null });
    const keys = { accessKeyId: 'AK', secretAccessKey: 's' };
    expect(readCloudKey(aws, JSON.stringify(keys))).toEqual({ kind: 'aws-sigv4', key: keys });
    expect(readCloudKey(aws, '{"role":"arn:aws:iam::1:role/r"}')?.key).toEqual({
      role: 'arn:aws:iam::1:role/r',
    });
    expect(readCloudKey(entra, '{"clientId":"c"}')?.key).toEqual({ clientId: 'c' });
    expect(readCloudKey(google, '{"type":"external_account","audience":"a"}')?.key).toMatchObject({
      audience: 'a',
    });
  });

  it('is refused, without a word of it, if it is JSON of another kind', () => {
    const secret = 'the-secret';
    for (const [auth, json] of [
      [aws, { accessKeyId: 'AK' }],
      [aws, { accessKeyId: 'AK', secretAccessKey: secret, more: 1 }],
      [aws, { role: 'admin' }],
      [entra, { tenant: 't', clientId: 'c' }],
      [google, { type: 'service_account', client_email: 'e', private_key: secret }],
    ] as const) {
      expect(() => readCloudKey(auth, JSON.stringify(json))).toThrow(/is .*JSON.*or an API key/);
      expect(() => readCloudKey(auth, JSON.stringify(json))).not.toThrow(secret);
    }
  });

  it('is refused with what to do if it begins like JSON and is cut off or has lost its quotes', () => {
    for (const auth of [aws, entra, google]) {
      expect(() => readCloudKey(auth, '{type: service_account')).toThrow(/not valid JSON: .* single quotes/);
      expect(() => readCloudKey(auth, '{type: service_account')).not.toThrow('service_account,');
    }
  });

  it('is made of the parts of a form', () => {
    expect(cloudValue(aws, {})).toBeUndefined();
    expect(cloudValue(entra, { machine: true })).toBe('default');
    expect(JSON.parse(cloudValue(aws, { accessKeyId: 'AK', secretAccessKey: 's' }) ?? '')).toEqual({
      accessKeyId: 'AK',
      secretAccessKey: 's',
    });
    expect(() => cloudValue(aws, { tenant: 't' })).toThrow('do not take it');
    expect(() => cloudValue(null, { tenant: 't' })).toThrow('an API key only');
    expect(() => cloudValue(aws, { machine: true, role: 'arn:r' })).toThrow('either');
    expect(() => cloudValue(aws, { accessKeyId: 'AK' })).toThrow('secretAccessKey');
  });

  it('is stored without white space', () => {
    expect(credentialValue(aws, '{ "role": "arn:r" }\n')).toBe('{"role":"arn:r"}');
    expect(credentialValue(null, 'sk-1')).toBe('sk-1');
    expect(() => credentialValue(null, '{ "role": "arn:r" }')).toThrow('one line');
    expect(() => credentialValue(aws, '{"role":')).toThrow();
  });
});
