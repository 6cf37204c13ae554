import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { applyEdits } from '#lib/core/families/edits';
import { messages } from '#lib/core/families/messages';
import { scan } from '#lib/core/families/scan';
import { makeOffer } from '#tests/unit/families/make';

function sent(
  text: string,
  variant: 'vertex' | 'bedrock',
  { count = false, budget = null as number | null, betas = '' } = {},
) {
  const operation = messages.operations[count ? 1 : 0];
  if (!operation?.fields) throw new Error('no operation');
  const scanned = scan(Buffer.from(text), operation.fields);
  if ('fault' in scanned) throw new Error(scanned.fault);
  const ask = messages.readAsk({ operation, params: {}, scan: scanned });
  if (isRefusal(ask)) throw new Error(ask.message);
  const plain = makeOffer({ upstreamModel: 'eu.claude:0' });
  const offer = { ...plain, provider: { ...plain.provider, variants: { messages: variant } } };
  const body = Buffer.from(applyEdits(scanned.body, messages.edits(ask, offer, budget, betas))).toString();
  return { body, path: messages.upstreamPath(ask, offer) };
}

const rest = '"max_tokens":5,"messages":[]';

describe('messages in the form of a cloud (contract: families/variants)', () => {
  it('the model becomes the version, and nothing else is touched', () => {
    const { body, path } = sent(`{ "model" : "m",\n ${rest}, "x":1e3}`, 'vertex');
    expect(body).toBe(`{ "anthropic_version" : "vertex-2023-10-16",\n ${rest}, "x":1e3}`);
    expect(path).toBe('/models/eu.claude%3A0:rawPredict');
    expect(sent(`{"model":"m","stream":true,${rest}}`, 'vertex').path).toBe(
      '/models/eu.claude%3A0:streamRawPredict',
    );
  });

  it('Bedrock’s path says whether to stream, wherever the body says so', () => {
    const version = '"anthropic_version":"bedrock-2023-05-31"';
    for (const [given, wanted] of [
      [`{"model":"m","stream":true,${rest}}`, `{${version},${rest}}`],
      [`{"stream":true,"model":"m",${rest}}`, `{${version},${rest}}`],
      [`{"model":"m",${rest} , "stream" : true }`, `{${version},${rest}  }`],
      [`{"stream":true , "model":"m",${rest}}`, `{ ${version},${rest}}`],
    ] as const) {
      const { body, path } = sent(given, 'bedrock');
      expect(body).toBe(wanted);
      expect(path).toBe('/model/eu.claude%3A0/invoke-with-response-stream');
    }
    expect(sent(`{"model":"m","stream":null,${rest}}`, 'bedrock')).toEqual({
      body: `{${version},${rest}}`,
      path: '/model/eu.claude%3A0/invoke',
    });
  });

  it('a version and betas of the body are kept in their places, and members that go leave valid JSON', () => {
    const given = `{${rest},"anthropic_version":"v","anthropic_beta":["b"],"model":"m","stream":false}`;
    const { body } = sent(given, 'bedrock', { budget: null, betas: 'a-1' });
    expect(body).toBe(`{${rest},"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["b"]}`);
    expect(
      JSON.parse(sent(`{"model":"m","messages":[]}`, 'bedrock', { budget: 7, betas: 'a-1, b-2' }).body),
    ).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      messages: [],
      max_tokens: 7,
      anthropic_beta: ['a-1', 'b-2'],
    });
  });

  it('counts name their model at Vertex AI only', () => {
    expect(sent('{"model":"m","messages":[]}', 'vertex', { count: true })).toEqual({
      body: '{"model":"eu.claude:0","messages":[],"anthropic_version":"vertex-2023-10-16"}',
      path: '/models/count-tokens:rawPredict',
    });
    expect(sent('{"model":"m","messages":[]}', 'bedrock', { count: true })).toEqual({
      body: '{"anthropic_version":"bedrock-2023-05-31","messages":[],"max_tokens":1}',
      path: '/model/eu.claude%3A0/count-tokens',
    });
  });
});
