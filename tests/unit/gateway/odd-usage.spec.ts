import { describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import type { Ask, Family } from '#lib/core/families/family';
import { generateContent } from '#lib/core/families/generate-content';
import { images } from '#lib/core/families/images';
import { messages } from '#lib/core/families/messages';
import { responses } from '#lib/core/families/responses';
import { chargeCall } from '#lib/gateway/flow/call/charge-call';
import { askContent } from '#tests/unit/families/content/make';
import { askImages } from '#tests/unit/families/images/make';
import { askChat, calledBy, makeModel, makeOffer } from '#tests/unit/families/make';
import { askMessages } from '#tests/unit/families/messages/make';
import { askResponse } from '#tests/unit/families/responses/make';
import { answeredCall } from '#tests/unit/gateway/make-call';
import { createMeter } from '#tests/unit/metering/make';
import { usd } from '#tests/unit/routing/make';

interface Spoken {
  readonly family: Family;
  readonly ask: Ask;
  /** The names of the two figures. */
  readonly figures: readonly [input: string, output: string];
  /** All of the answer, with this usage. */
  body(usage: object): string;
}

const said = 'x'.repeat(400);
const say = `${'word '.repeat(80)}`;
const event = (body: object) => `data: ${JSON.stringify(body)}\n\n`;
const user = [{ role: 'user', content: say }];

const spoken: Readonly<Record<string, Spoken>> = {
  chat: {
    family: chat,
    ask: askChat({ model: 'm', messages: user }),
    figures: ['prompt_tokens', 'completion_tokens'],
    body: (usage) => JSON.stringify({ choices: [{ message: { content: said } }], usage }),
  },
  'chat, streamed': {
    family: chat,
    ask: askChat({ model: 'm', messages: user, stream: true }),
    figures: ['prompt_tokens', 'completion_tokens'],
    body: (usage) =>
      event({ choices: [{ index: 0, delta: { content: said }, finish_reason: 'stop' }] }) +
      event({ choices: [], usage }),
  },
  responses: {
    family: responses,
    ask: askResponse({ model: 'm', input: say }),
    figures: ['input_tokens', 'output_tokens'],
    body: (usage) => JSON.stringify({ object: 'response', output: [{ content: [{ text: said }] }], usage }),
  },
  'responses, streamed': {
    family: responses,
    ask: askResponse({ model: 'm', input: say, stream: true }),
    figures: ['input_tokens', 'output_tokens'],
    body: (usage) =>
      event({ type: 'response.output_text.delta', delta: said }) +
      event({ type: 'response.completed', response: { object: 'response', usage } }),
  },
  messages: {
    family: messages,
    ask: askMessages({ model: 'm', messages: user, max_tokens: 9 }),
    figures: ['input_tokens', 'output_tokens'],
    body: (usage) => JSON.stringify({ content: [{ type: 'text', text: said }], usage }),
  },
  'messages, streamed': {
    family: messages,
    ask: askMessages({ model: 'm', messages: user, max_tokens: 9, stream: true }),
    figures: ['input_tokens', 'output_tokens'],
    body: (usage) =>
      event({ type: 'message_start', message: { id: 'a' } }) +
      event({ type: 'content_block_delta', delta: { text: said } }) +
      event({ type: 'message_delta', usage }),
  },
  'generate-content': {
    family: generateContent,
    ask: askContent({ contents: [{ parts: [{ text: say }] }] }),
    figures: ['promptTokenCount', 'candidatesTokenCount'],
    body: (usageMetadata) =>
      JSON.stringify({ candidates: [{ content: { parts: [{ text: said }] } }], usageMetadata }),
  },
  'generate-content, streamed': {
    family: generateContent,
    ask: askContent({ contents: [{ parts: [{ text: say }] }] }, 'stream'),
    figures: ['promptTokenCount', 'candidatesTokenCount'],
    body: (usageMetadata) =>
      event({
        candidates: [{ content: { parts: [{ text: said }] }, finishReason: 'STOP' }],
        usageMetadata,
      }),
  },
  images: {
    family: images,
    ask: askImages({ model: 'm', prompt: say }),
    figures: ['input_tokens', 'output_tokens'],
    body: (usage) => JSON.stringify({ data: [{ b64_json: 'AA' }], size: '1024x1024', quality: 'low', usage }),
  },
  'images, streamed': {
    family: images,
    ask: askImages({ model: 'm', prompt: say, stream: true }),
    figures: ['input_tokens', 'output_tokens'],
    body: (usage) => event({ type: 'image_generation.completed', size: '1024x1024', quality: 'low', usage }),
  },
};

/** What an answer with this usage is charged. */
function chargeOf({ family, ask, body }: Spoken, usage: object) {
  const model = makeModel({ output: ['text', 'image'] });
  const call = answeredCall(family, ask, {
    model,
    offer: makeOffer(),
    family: family.id,
    address: new URL('https://provider.example/v1'),
    ...calledBy(),
    price: { id: 'price', price: usd('1', '4'), effectiveAtMs: 0 },
    injectBudget: null,
  });
  call.outcome.status = 200;
  call.outcome.holdNano = 10n ** 12n;
  const text = body(usage);
  const contentType = text.startsWith('data:') ? 'text/event-stream' : 'application/json';
  const meter = createMeter(family, ask, { contentType });
  meter.push(Buffer.from(text));
  meter.end();
  chargeCall(call, meter, { end: 'ended' });
  return call.outcome.charge;
}

describe.each(Object.entries(spoken))('figures of usage in %s', (_name, one) => {
  const [input, output] = one.figures;
  const usual = { [input]: 50, [output]: 20 };

  it('usage figures are read even if they are strings (contract: money/reported-usage)', () => {
    const strings = chargeOf(one, { [input]: '50', [output]: ' 20 ' });
    expect(strings).toEqual(chargeOf(one, usual));
    expect(strings).toMatchObject({ usageSource: 'reported', flags: [] });
    expect([strings.usage.input, strings.usage.output]).toEqual([50, 20]);
  });

  it('fractional usage figures are rounded up', () => {
    const { usage, usageSource, flags } = chargeOf(one, { [input]: 49.2, [output]: '19.5' });
    expect([usage.input, usage.output, usageSource]).toEqual([50, 20, 'reported']);
    expect(flags).toEqual(['usage_not_integer']);
  });

  it.each([
    [-5, 'usage_negative'],
    ['-5', 'usage_negative'],
    [1e30, 'usage_unreadable'],
    ['9'.repeat(400), 'usage_unreadable'],
    ['abc', 'usage_unreadable'],
    ['NaN', 'usage_unreadable'],
    ['', 'usage_unreadable'],
    [{}, 'usage_unreadable'],
    [[7], 'usage_unreadable'],
    [true, 'usage_unreadable'],
  ])('are estimated where they cannot be read: %j (contract: money/unreadable-usage)', (odd, flag) => {
    const inputLost = chargeOf(one, { ...usual, [input]: odd });
    expect(inputLost).toMatchObject({ usageSource: 'estimated', flags: [flag] });
    expect(inputLost.usage.input).toBe(Math.ceil(one.ask.scan.body.length / 4));
    expect(inputLost.usage.output).toBe(20);
    const outputLost = chargeOf(one, { ...usual, [output]: odd });
    expect(outputLost).toMatchObject({ usageSource: 'estimated', flags: [flag] });
    expect(outputLost.usage.input).toBe(50);
    expect(outputLost.usage.output).toBe(one.family === images ? 272 : 100);
    const bothLost = chargeOf(one, { [input]: odd, [output]: odd });
    expect(bothLost.usage).toMatchObject({
      input: inputLost.usage.input,
      output: outputLost.usage.output,
    });
    expect(bothLost.costNano).toBe(
      1_000n * BigInt(inputLost.usage.input) + 4_000n * BigInt(outputLost.usage.output),
    );
  });
});

describe('cached input that cannot be read', () => {
  it('unreadable cached input is estimated if it is counted apart from the input, and costs as input if it is a part of it', () => {
    const { messages: beside, chat: inside } = spoken;
    if (!beside || !inside) throw new Error('both are above');
    const told = { input_tokens: 3, cache_read_input_tokens: 'many', cache_creation_input_tokens: 7 };
    const charge = chargeOf(beside, { ...told, output_tokens: 20 });
    expect(charge).toMatchObject({ usageSource: 'estimated', flags: ['usage_unreadable'] });
    const estimated = Math.ceil(beside.ask.scan.body.length / 4);
    expect(charge.usage).toMatchObject({ input: estimated - 7, cachedInput: 0, cacheWrite5m: 7, output: 20 });
    const details = { prompt_tokens_details: { cached_tokens: {} } };
    expect(chargeOf(inside, { prompt_tokens: 50, completion_tokens: 20, ...details })).toMatchObject({
      usageSource: 'reported',
      usage: { input: 50, cachedInput: 0, output: 20 },
      flags: ['usage_unreadable'],
    });
  });
});
