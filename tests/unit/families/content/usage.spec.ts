import { describe, expect, it } from 'vitest';
import { generateContent } from '#lib/core/families/generate-content';
import { usageOf } from '#lib/core/metering/usage';
import { askContent } from '#tests/unit/families/content/make';

const ask = askContent();
const read = (usageMetadata: unknown, rest: object = {}) =>
  generateContent.readUsage(ask, { ...rest, usageMetadata });

describe('the usage of a generate-content answer', () => {
  it('adds thoughts to the output and tool prompts to the input, and parts the cache from the prompt', () => {
    const report = read({
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      toolUsePromptTokenCount: 300,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 50,
      totalTokenCount: 470,
    });
    expect(report).toEqual({
      usage: usageOf({ input: 340, cachedInput: 60, output: 70, reasoning: 50 }),
      serviceTier: null,
      nested: [],
      flags: [],
    });
  });

  it('takes modalities out of input and output; what the details omit is text', () => {
    const report = read({
      promptTokenCount: 1000,
      cachedContentTokenCount: 300,
      toolUsePromptTokenCount: 10,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 100 },
        { modality: 'AUDIO', tokenCount: 400 },
        { modality: 'IMAGE', tokenCount: 258 },
        { modality: 'VIDEO', tokenCount: 100 },
        { modality: 'DOCUMENT', tokenCount: 100 },
      ],
      cacheTokensDetails: [
        { modality: 'AUDIO', tokenCount: 250 },
        { modality: 'TEXT', tokenCount: 50 },
      ],
      toolUsePromptTokensDetails: [{ modality: 'IMAGE', tokenCount: 5 }],
      candidatesTokenCount: 1518,
      candidatesTokensDetails: [
        { modality: 'IMAGE', tokenCount: 1120 },
        { modality: 'AUDIO', tokenCount: 200 },
      ],
    });
    expect(report?.usage).toEqual(
      usageOf({
        input: 710,
        cachedInput: 300,
        audioInput: 150,
        imageInput: 263,
        cachedAudioInput: 250,
        output: 1518,
        imageOutput: 1120,
        audioOutput: 200,
      }),
    );
  });

  it('reads modalities given as numbers', () => {
    const details = [
      { modality: 2, tokenCount: 3 },
      { modality: 4, tokenCount: 4 },
      { modality: 1, tokenCount: 5 },
    ];
    const { usage } = read({ promptTokenCount: 12, promptTokensDetails: details }) ?? {};
    expect(usage).toEqual(usageOf({ input: 12, imageInput: 3, audioInput: 4 }));
  });

  it('never gives a part more than its whole', () => {
    const details = [
      { modality: 'AUDIO', tokenCount: 90 },
      { modality: 'IMAGE', tokenCount: 90 },
    ];
    const { usage } =
      read({
        promptTokenCount: 100,
        candidatesTokenCount: 100,
        promptTokensDetails: details,
        candidatesTokensDetails: details,
      }) ?? {};
    expect(usage).toEqual(
      usageOf({ input: 100, audioInput: 90, imageInput: 10, output: 100, audioOutput: 90, imageOutput: 10 }),
    );
  });

  it('charges a blocked prompt for its prompt', () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' } };
    expect(read({ promptTokenCount: 8, totalTokenCount: 8 }, blocked)?.usage).toEqual(usageOf({ input: 8 }));
  });

  it('counts the searches that were run, each once a candidate, and empty ones not at all', () => {
    const candidates = [
      { groundingMetadata: { webSearchQueries: ['', 'a', 'b', 'a', 7] } },
      { index: 1, groundingMetadata: { webSearchQueries: ['a'] } },
      { groundingMetadata: {} },
      null,
    ];
    expect(read({ promptTokenCount: 1 }, { candidates })?.usage.webSearches).toBe(3);
    expect(read({ promptTokenCount: 1 })?.usage.webSearches).toBe(0);
  });

  it.each([
    [{ serviceTier: 'standard' }, 'standard'],
    [{ serviceTier: 'FLEX' }, 'flex'],
    [{ serviceTier: 'priority', trafficType: 'ON_DEMAND_FLEX' }, 'priority'],
    [{ trafficType: 'ON_DEMAND_PRIORITY' }, 'priority'],
    [{ trafficType: 'ON_DEMAND_FLEX' }, 'flex'],
    [{ trafficType: 'ON_DEMAND' }, null],
    [{ trafficType: 'constructor' }, null],
    [{}, null],
  ])('carries the tier that the answer names: %j', (fields, tier) => {
    expect(read({ promptTokenCount: 1, ...fields })?.serviceTier).toBe(tier);
  });

  it('flags figures that contradict each other', () => {
    expect(read({ promptTokenCount: 5, cachedContentTokenCount: 9 })).toMatchObject({
      usage: usageOf({ cachedInput: 9 }),
      flags: ['usage_inconsistent'],
    });
    const total = { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 9 };
    expect(read(total)?.flags).toEqual(['usage_inconsistent']);
  });

  it('the usage of a generate-content answer is unknown, not zero, when nothing is reported', () => {
    for (const nothing of [
      undefined,
      null,
      {},
      [],
      5,
      { serviceTier: 'standard' },
      { promptTokenCount: null },
    ])
      expect(read(nothing)).toBeNull();
    for (const answer of [null, 'text', [], {}, [null]])
      expect(generateContent.readUsage(ask, answer)).toBeNull();
    expect(read({ totalTokenCount: 0 })?.usage).toEqual(usageOf({}));
  });

  it('the usage of an array is that of its last element with usage', () => {
    const answer = [
      { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 9 } },
      { usageMetadata: { promptTokenCount: 5, thoughtsTokenCount: 3 } },
      { candidates: [] },
    ];
    expect(generateContent.readUsage(ask, answer)?.usage).toEqual(
      usageOf({ input: 5, output: 3, reasoning: 3 }),
    );
  });
});

describe('the output bytes of a generate-content answer', () => {
  it('output bytes are those of text, thoughts, calls and code of every candidate, not of media', () => {
    const answer = {
      candidates: [
        {
          content: {
            parts: [{ text: 'é', thought: true }, { text: 'abc' }, { inlineData: { data: 'AAAA' } }],
          },
        },
        {
          content: {
            parts: [{ functionCall: { name: 'f', args: { a: 1 } } }, { functionCall: { name: 'g' } }],
          },
        },
        { content: { parts: [{ executableCode: { code: 'xy' } }, null, 7] } },
        { content: null },
        null,
      ],
    };
    expect(generateContent.outputBytes(answer)).toBe(2 + 3 + 1 + 7 + 1 + 2);
    for (const odd of [null, 5, {}, [], { candidates: {} }]) expect(generateContent.outputBytes(odd)).toBe(0);
  });
});
