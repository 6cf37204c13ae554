import { describe, expect, it } from 'vitest';
import { outcomeText, providerRowOf } from '#lib/console/gateway/provider';

const ran = { ok: true, status: 200, durationMs: 320, message: null, input: 8, output: 16, cost: '0.000072' };

describe('the outcome of a provider’s test', () => {
  it.each([
    [ran, 'a/b answered 200 in 320 ms: 8 tokens in, 16 out, $0.000072.'],
    [{ ...ran, input: null, output: null, cost: null }, 'a/b answered 200 in 320 ms: no usage reported.'],
    [{ ...ran, ok: false, status: 401, message: 'Bad key' }, 'a/b answered 401 in 320 ms: Bad key'],
    [
      { ...ran, ok: false, status: null, message: 'ECONNREFUSED' },
      'a/b did not answer (320 ms): ECONNREFUSED',
    ],
    [null, 'a/b was called, but its answer was not kept. Run the test again.'],
  ])('is told in a sentence: %j', (outcome, text) => {
    expect(outcomeText({ model: 'a/b', outcome })).toBe(text);
  });
});

describe('the row of a provider', () => {
  it('says where its credential stands, never what it is', () => {
    const families = [{ family: 'chat', address: 'https://a.test/v1', why: null }];
    const provider = {
      id: 'a',
      name: 'A',
      families,
      onDisconnect: 'drain',
      pricesFrom: null,
      offers: 2,
    } as const;
    const row = (kind: 'none' | 'variable' | 'sealed', variable: string | null) =>
      providerRowOf({ ...provider, credential: { kind, variable, usable: true, why: null } });
    expect(row('variable', 'A_KEY').credential.text).toBe('A_KEY');
    expect(row('sealed', null).credential.text).toBe('Stored, encrypted');
    expect(row('none', null)).toMatchObject({
      credential: { text: 'None' },
      families: [{ name: 'Chat completions', address: 'https://a.test/v1', why: null }],
    });
  });
});
