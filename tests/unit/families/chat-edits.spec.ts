import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OfferFacts } from '#lib/core/facts/snapshot';
import { chat } from '#lib/core/families/chat';
import { applyEdits } from '#lib/core/families/edits';
import { askChat, makeOffer, makeProvider } from '#tests/unit/families/make';

function sent(body: string, offer: OfferFacts, injectBudget: number | null = null): string {
  const ask = askChat(body);
  return Buffer.from(applyEdits(ask.scan.body, chat.edits(ask, offer, injectBudget))).toString();
}

const sameName = makeOffer({ upstreamModel: 'm' });

describe('the body that travels upstream (contract: body/replaced)', () => {
  it('a chat body is the client’s own when nothing has to change', () => {
    const body = ' { "temperature":1.0, "model" : "m", "x":{"model":"m"} , "big":1E+2 } ';
    expect(sent(body, sameName)).toBe(body);
    const ask = askChat(body);
    expect(applyEdits(ask.scan.body, chat.edits(ask, sameName, null))).toBe(ask.scan.body);
  });

  it('the provider’s name of the model is written in place', () => {
    const offer = makeOffer({ upstreamModel: 'a"b/é' });
    expect(sent('{"a":1, "model" : "m" ,"b":[ ]}', offer)).toBe('{"a":1, "model" : "a\\"b/é" ,"b":[ ]}');
    expect(sent('{"\\u006dodel":"\\u006d"}', sameName)).toBe('{"\\u006dodel":"\\u006d"}');
  });

  it.each([
    ['{"model":"m","stream":true}', '{"model":"m","stream":true,"stream_options":{"include_usage":true}}'],
    [
      '{"model":"m","stream":true }\n',
      '{"model":"m","stream":true ,"stream_options":{"include_usage":true}}\n',
    ],
    [
      '{"stream_options":null,"model":"m","stream":true}',
      '{"stream_options":{"include_usage":true},"model":"m","stream":true}',
    ],
    [
      '{"stream_options":{ },"model":"m","stream":true}',
      '{"stream_options":{ "include_usage":true},"model":"m","stream":true}',
    ],
    [
      '{"stream_options":{"include_obfuscation":false},"model":"m","stream":true}',
      '{"stream_options":{"include_obfuscation":false,"include_usage":true},"model":"m","stream":true}',
    ],
    [
      '{"stream_options":{"include_usage":false},"model":"m","stream":true}',
      '{"stream_options":{"include_usage":true},"model":"m","stream":true}',
    ],
    [
      '{"stream_options":{"include_usage" : null},"model":"m","stream":true}',
      '{"stream_options":{"include_usage" : true},"model":"m","stream":true}',
    ],
  ])('asks for usage in a stream: %s', (body, expected) => {
    expect(sent(body, sameName)).toBe(expected);
    expect(chat.injectsUsage?.(askChat(body), sameName)).toBe(true);
  });

  it.each([
    '{"model":"m"}',
    '{"model":"m","stream":false,"stream_options":{"include_usage":false}}',
    '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
  ])('does not where no usage event is missing: %s', (body) => {
    expect(sent(body, sameName)).toBe(body);
    expect(chat.injectsUsage?.(askChat(body), sameName)).toBe(false);
  });

  it('usage is not requested from an offer that does not support it', () => {
    const offer = makeOffer({ upstreamModel: 'm', streamUsage: 'never' });
    expect(sent('{"model":"m","stream":true}', offer)).toBe('{"model":"m","stream":true}');
    expect(chat.injectsUsage?.(askChat('{"model":"m","stream":true}'), offer)).toBe(false);
  });

  it('an injected budget is written in the offer’s own field', () => {
    const newer = makeOffer({ upstreamModel: 'm', outputBudgetField: 'max_completion_tokens' });
    expect(sent('{"model":"m"}', sameName, 50)).toBe('{"model":"m","max_tokens":50}');
    expect(sent('{"model":"m"}', newer, 50)).toBe('{"model":"m","max_completion_tokens":50}');
    expect(sent('{"max_tokens":null,"model":"m"}', sameName, 50)).toBe('{"max_tokens":50,"model":"m"}');
    for (const id of ['openai', 'azure', 'azure-openai']) {
      const offer = makeOffer({ upstreamModel: 'm', provider: makeProvider({ id }) });
      expect(sent('{"model":"m"}', offer, 50)).toBe('{"model":"m","max_completion_tokens":50}');
    }
  });

  it('edits keep every other byte, whatever the body contains', () => {
    const rest = fc.dictionary(
      fc.string().filter((k) => !/^(model|stream.*|n|max_.*|tools|service_tier|web_.*)$/i.test(k)),
      fc.jsonValue(),
    );
    const options = fc.constantFrom(undefined, null, {}, { include_usage: false }, { a: 1 });
    fc.assert(
      fc.property(rest, options, fc.option(fc.nat(), { nil: null }), (fields, stream_options, budget) => {
        const body = {
          ...fields,
          stream: true,
          model: 'm',
          ...(stream_options === undefined ? {} : { stream_options }),
        };
        const expected = {
          ...JSON.parse(JSON.stringify(body)),
          model: 'upstream-name',
          stream_options: { ...stream_options, include_usage: true },
          ...(budget === null ? {} : { max_tokens: budget }),
        };
        const text = JSON.stringify(body, null, 1);
        expect(JSON.parse(sent(text, makeOffer(), budget))).toEqual(expected);
      }),
    );
  });
});

describe('a budget in the spelling that the offer does not read (contract: admission/budget-name)', () => {
  const older = makeOffer({ upstreamModel: 'm', outputBudgetField: 'max_tokens' });
  const newer = makeOffer({ upstreamModel: 'm', outputBudgetField: 'max_completion_tokens' });
  const swapped = (text: string) =>
    text
      .replaceAll('max_completion_tokens', '#')
      .replaceAll('max_tokens', 'max_completion_tokens')
      .replaceAll('#', 'max_tokens');

  it.each([
    ['{"model":"m","max_completion_tokens":1}', '{"model":"m","max_tokens":1}'],
    ['{"max_completion_tokens" : 1e2 ,"model":"m"}', '{"max_tokens" : 1e2 ,"model":"m"}'],
    ['{"model":"m",\n"max_completion_tokens"\t:\r\n 5}', '{"model":"m",\n"max_tokens"\t:\r\n 5}'],
    [
      '{"model":"m","max_completion_tokens":5,"max_tokens":null}',
      '{"model":"m","max_tokens":5,"max_completion_tokens":null}',
    ],
    [
      '{"model":"m","max_completion_tokens":5,"max_tokens":6}',
      '{"model":"m","max_completion_tokens":5,"max_tokens":6}',
    ],
    ['{"model":"m","max_tokens":6}', '{"model":"m","max_tokens":6}'],
    ['{"model":"m","max_completion_tokens":null}', '{"model":"m","max_completion_tokens":null}'],
    ['{"model":"m","x":{"max_completion_tokens":5}}', '{"model":"m","x":{"max_completion_tokens":5}}'],
  ])('has its name replaced, and its value kept: %s', (body, expected) => {
    expect(sent(body, older)).toBe(expected);
    expect(sent(swapped(body), newer)).toBe(swapped(expected));
  });

  it('a budget is found under an escaped name', () => {
    expect(sent('{"model":"m","\\u006dax_completion\\u005ftokens":7}', older)).toBe(
      '{"model":"m","max_tokens":7}',
    );
  });
});

describe('the chat family at a provider', () => {
  it('the chat family posts to its path with a bearer credential', () => {
    expect(chat.upstreamPath(askChat({ model: 'm' }), sameName)).toBe('/chat/completions');
    expect(chat.credentialHeader).toBe('authorization');
  });

  it('a broken chat stream ends with only message and code', () => {
    const frame = chat.breakFrame({ code: 'upstream_request_failed', message: 'a "b"' }, 3, undefined);
    expect(frame).toBe('data: {"error":{"message":"a \\"b\\"","code":"upstream_request_failed"}}\n\n');
  });
});
