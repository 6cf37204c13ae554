import { describe, expect, it } from 'vitest';
import { toldBody } from '#tests/unit/families/budgets/told';

/**
 * A request's budget fields, as JSON text before the closing brace; then what becomes of it: the text
 * that the provider receives in their place, or the refusal.
 */
type Case = readonly [fields: string, then: string];

/** With a policy of 100 output tokens, at a provider that is told by `max_tokens`. */
const withPolicy: readonly Case[] = [
  ['', ',"max_tokens":100'],
  [',"max_tokens":null', ',"max_tokens":100'],
  [',"max_tokens": null ,"x":1', ',"max_tokens": 100 ,"x":1'],
  [',"max_completion_tokens":null', ',"max_completion_tokens":null,"max_tokens":100'],
  [',"max_tokens":50', ',"max_tokens":50'],
  [',"max_tokens":5e1', ',"max_tokens":5e1'],
  [',"max_tokens":99.0', ',"max_tokens":99.0'],
  [',"max_tokens":100', ',"max_tokens":100'],
  [',"max_tokens":1e2', ',"max_tokens":1e2'],
  [',"max_tokens":0', ',"max_tokens":0'],
  [',"max_tokens":-0', ',"max_tokens":-0'],
  [',"max_completion_tokens":50', ',"max_tokens":50'],
  [',"max_completion_tokens" : 5e1 ', ',"max_tokens" : 5e1 '],
  [',"max_tokens":null,"max_completion_tokens":50', ',"max_completion_tokens":null,"max_tokens":50'],
  [',"n":3', ',"n":3,"max_tokens":33'],
  [',"n":100', ',"n":100,"max_tokens":1'],
  [',"n":2,"max_tokens":50', ',"n":2,"max_tokens":50'],
  [',"n":2,"max_tokens":51', 'max_output_tokens_exceeded'],
  [',"n":2,"max_completion_tokens":51', 'max_output_tokens_exceeded'],
  [',"n":101', 'max_output_tokens_exceeded'],
  [',"max_tokens":50,"max_completion_tokens":60', ',"max_tokens":50,"max_completion_tokens":60'],
  [',"\\u006dax_tokens":50', ',"\\u006dax_tokens":50'],
  [',"\\u006dax_tokens":null', ',"\\u006dax_tokens":100'],
  [',"max_tokens":101', 'max_output_tokens_exceeded'],
  [',"max_completion_tokens":101', 'max_output_tokens_exceeded'],
  [',"max_tokens":50,"max_completion_tokens":101', 'max_output_tokens_exceeded'],
  [',"max_tokens":101,"max_completion_tokens":50', 'max_output_tokens_exceeded'],
  [',"max_tokens":1e3', 'max_output_tokens_exceeded'],
  [',"\\u006dax_tokens":101', 'max_output_tokens_exceeded'],
  [',"max_tokens":9007199254740991', 'max_output_tokens_exceeded'],
  [',"max_tokens":-1', 'invalid_body'],
  [',"max_tokens":50.5', 'invalid_body'],
  [',"max_tokens":"50"', 'invalid_body'],
  [',"max_tokens":true', 'invalid_body'],
  [',"max_tokens":[50]', 'invalid_body'],
  [',"max_tokens":{}', 'invalid_body'],
  [',"max_completion_tokens":"50"', 'invalid_body'],
  [',"max_tokens":50,"max_tokens":50', 'invalid_body'],
  [',"max_tokens":50,"MAX_TOKENS":500', 'invalid_body'],
];

/** Without a policy nothing is added, and only what is no budget is refused. */
const withoutPolicy: readonly Case[] = [
  [',"max_completion_tokens":50', ',"max_tokens":50'],
  [',"n":101,"max_completion_tokens":7', ',"n":101,"max_tokens":7'],
  ...withPolicy
    .filter(([fields]) => !/"max_completion_tokens" ?:\s?\d/.test(fields) || /"max_tokens":\d/.test(fields))
    .map(([fields, then]): Case => [fields, then === 'invalid_body' ? then : fields]),
];

describe('what a provider of chat is told under the output-token policy of a key', () => {
  function check(
    maximum: number | null,
    [fields, then]: Case,
    offers: 'max_tokens' | 'max_completion_tokens',
  ) {
    const body = (model: string, more: string) =>
      `{"model":"${model}","messages":[{"role":"user","content":"Hello"}]${more}}`;
    const told = toldBody('/v1/chat/completions', body('sandbox/echo', fields), maximum, offers);
    const refused = then === 'invalid_body' || then === 'max_output_tokens_exceeded';
    expect(told).toBe(refused ? then : body('echo', then));
  }

  describe('of 100 tokens', () => {
    it.each(withPolicy)('%s → %s', (fields, then) => check(100, [fields, then], 'max_tokens'));
  });
  describe('that sets none', () => {
    it.each(withoutPolicy)('%s → %s', (fields, then) => check(null, [fields, then], 'max_tokens'));
  });
  describe('above what the model makes', () => {
    it.each([
      ['', ''],
      [',"max_tokens":null', ',"max_tokens":null'],
      [',"max_tokens":65536', ',"max_tokens":65536'],
      [',"max_tokens":65537', 'max_output_tokens_exceeded'],
    ] as const)('%s → %s', (fields, then) => check(65_536, [fields, then], 'max_tokens'));
  });
  describe('at a provider that is told by max_completion_tokens', () => {
    it.each([
      ['', ',"max_completion_tokens":100'],
      [',"max_completion_tokens":null', ',"max_completion_tokens":100'],
      [',"max_tokens":null', ',"max_tokens":null,"max_completion_tokens":100'],
      [',"max_tokens":50', ',"max_completion_tokens":50'],
      [',"max_tokens":101', 'max_output_tokens_exceeded'],
    ] as const)('%s → %s', (fields, then) => check(100, [fields, then], 'max_completion_tokens'));
  });

  it('an empty object gets its first member without a comma', () => {
    const text =
      '{ "model" : "sandbox/echo", "messages":[{"role":"user","content":"Hello"}], "stream":true, "stream_options":{} }';
    expect(toldBody('/v1/chat/completions', text, 100, 'max_tokens')).toBe(
      text
        .replace('"sandbox/echo"', '"echo"')
        .replace('{}', '{"include_usage":true}')
        .replace(/ }$/, ' ,"max_tokens":100}'),
    );
  });
});
