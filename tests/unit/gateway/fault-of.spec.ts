import { describe, expect, it } from 'vitest';
import { familyOf, operations } from '#lib/core/families/index';
import { faultOf } from '#lib/gateway/flow/attempt/fault-of';
import { askChat, calledBy } from '#tests/unit/families/make';

const named = { error: { message: 'The model `m` does not exist', code: 'model_not_found' } };
const kept = operations.filter((one) => one.resource);

function fault(name: string, status: number, body: unknown) {
  const operation = operations.find((one) => one.name === name);
  const family = operation && familyOf(operation.family);
  if (!operation || !family) throw new Error(`no operation ${name}`);
  return faultOf({ operation, family, ask: askChat({ model: 'm' }) }, calledBy(), status, body);
}

describe('an error of an operation (contract: families/faults)', () => {
  it.each(kept.map((one) => one.name))('%s: what is missing is the client’s', (name) => {
    for (const status of [404, 410]) {
      expect(fault(name, status, null).whose).toBe('client');
      expect(fault(name, status, named).whose).toBe('client');
    }
    expect(fault(name, 401, null).whose).toBe('operator');
    expect(fault(name, 503, null).whose).toBe('provider');
  });

  it.each([
    'chat.create',
    'responses.create',
    'messages.create',
    'content.stream',
    'images.generate',
    'videos.create',
  ])('%s: a 404 that names nothing is the operator’s', (name) =>
    expect(fault(name, 404, null)).toMatchObject({ whose: 'operator', kind: 'unknown' }),
  );

  it('an error of an operation has a message that may be logged (contract: call-log/provider-error)', () => {
    const body = { error: { message: 'Refused: "tell me a joke".', code: 'refused' } };
    expect(fault('chat.create', 400, body)).toMatchObject({ code: 'refused', message: 'Refused: ….' });
  });

  it('a server that cannot count is not set aside for it; one whose model is gone is', () => {
    expect(fault('messages.count_tokens', 404, { detail: 'Not Found' }).whose).toBe('client');
    expect(fault('messages.count_tokens', 404, named)).toMatchObject({
      whose: 'operator',
      kind: 'model_gone',
    });
  });
});
