import { describe, expect, it } from 'vitest';
import { outcomeText, providerRowOf } from '#lib/console/gateway/provider';
import type { ShownCredential } from '#lib/control/operations/provider/list';

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
  const families = [{ family: 'chat', address: 'https://a.test/v1', why: null }];
  const provider = {
    id: 'a',
    name: 'A',
    families,
    auth: null,
    onDisconnect: 'drain',
    pricesFrom: null,
    stores: [] as string[],
    offers: 2,
    withdrawn: 0,
    acceptNewModels: false,
  } as const;
  const credential: ShownCredential = {
    name: 'default',
    kind: 'sealed',
    variable: null,
    usable: true,
    why: null,
    weight: 1,
    priority: 1,
    rpm: null,
    tpm: null,
    models: null,
    withdrawn: false,
    state: 'in service',
    until: null,
    lastError: null,
    tested: null,
    spend: null,
  };
  const nowMs = Date.parse('2026-11-25T12:00:00Z');
  const rowsOf = (...parts: Partial<ShownCredential>[]) =>
    providerRowOf(
      { ...provider, credentials: parts.map((part) => ({ ...credential, ...part })) },
      ['a/m'],
      nowMs,
    );
  const rowOf = (part: Partial<ShownCredential>) => rowsOf(part).credentials[0];

  it('says where its credential stands, never what it is', () => {
    expect(rowOf({ kind: 'variable', variable: 'A_KEY' })?.text).toBe('A_KEY');
    expect(rowOf({})).toMatchObject({ text: 'Stored, encrypted', share: null, why: null });
    expect(rowOf({ kind: 'none', usable: false })).toMatchObject({
      text: 'None',
      state: { text: 'Missing' },
    });
    expect(rowsOf({})).toMatchObject({
      models: ['a/m'],
      families: [{ name: 'Chat completions', address: 'https://a.test/v1', why: null }],
    });
  });

  it('tells a variable that is not set from one that cannot be used', () => {
    const variable = { kind: 'variable', variable: 'A_KEY', usable: false } as const;
    const unset = 'set A_KEY in the environment of the gateway, or set a credential here';
    expect(rowOf({ ...variable, why: unset })).toMatchObject({ state: { text: 'Missing' }, why: null });
    const broken = 'A_KEY cannot be used: it is not valid JSON';
    expect(rowOf({ ...variable, why: broken })).toMatchObject({
      state: { tone: 'bad', text: 'Cannot be read' },
      why: broken,
    });
  });

  it('says whether its credential works, by calls or by its latest test', () => {
    const stateOf = (part: Partial<ShownCredential>) => rowOf({ state: 'untried', ...part })?.state;
    const at = '2026-11-25T11:58:00Z';
    expect(stateOf({})).toEqual({ tone: 'neutral', text: 'Not tested', note: null });
    expect(stateOf({ state: 'in service' })).toEqual({ tone: 'good', text: 'Works', note: 'in use' });
    const worked = { at, failure: null };
    expect(stateOf({ tested: worked })).toEqual({ tone: 'good', text: 'Works', note: 'tested 2 min ago' });
    expect(stateOf({ tested: { at, failure: 'Answered 401: Bad key' } })).toEqual({
      tone: 'bad',
      text: 'Fails',
      note: 'Answered 401: Bad key (tested 2 min ago)',
    });
  });

  it('shows of each credential in a pool its share, its spend and why it is not used', () => {
    const lastError = { status: 401, what: 'credential', at: '2026-11-27T14:05:10.000Z' };
    const [one, other] = rowsOf(
      { spend: '1.5', models: ['a/m'], weight: 3 },
      { name: 'b', spend: '0', state: 'refused', lastError },
    ).credentials;
    expect(one).toMatchObject({ share: 'Weight 3 · priority 1 · 1 model · $1.50 in 24 hours', why: null });
    expect(other).toMatchObject({
      state: { text: 'Refused', tone: 'bad' },
      why: 'Last error: 401 credential at 14:05:10 UTC',
    });
    expect(rowOf({ withdrawn: true })?.state.text).toBe('Withdrawn');
  });
});
