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
    type Tested = { at: string; failure: string | null } | null;
    const nowMs = Date.parse('2026-11-25T12:00:00Z');
    const row = (kind: 'none' | 'variable' | 'sealed', variable: string | null, tested: Tested = null) =>
      providerRowOf(
        { ...provider, credential: { kind, variable, usable: kind !== 'none', why: null, tested } },
        nowMs,
      );
    const at = '2026-11-25T11:58:00Z';
    expect(row('none', null).credential.state.text).toBe('Missing');
    expect(row('sealed', null).credential.state).toEqual({ tone: 'neutral', text: 'Not tested', note: null });
    expect(row('sealed', null, { at, failure: null }).credential.state).toEqual({
      tone: 'good',
      text: 'Works',
      note: 'tested 2 min ago',
    });
    expect(row('sealed', null, { at, failure: 'Answered 401: Bad key' }).credential.state).toEqual({
      tone: 'bad',
      text: 'Fails',
      note: 'Answered 401: Bad key (tested 2 min ago)',
    });
    expect(row('variable', 'A_KEY').credential.text).toBe('A_KEY');
    expect(row('sealed', null).credential.text).toBe('Stored, encrypted');
    expect(row('none', null)).toMatchObject({
      credential: { text: 'None' },
      families: [{ name: 'Chat completions', address: 'https://a.test/v1', why: null }],
    });
  });
});
