import { describe, expect, it } from 'vitest';
import { usageOf } from '#lib/core/metering/usage';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import { encodeTraces } from '#lib/programs/telemetry/send/encode';
import { spansOf } from '#lib/programs/telemetry/spans/call-spans';
import { chargeSpanOf, type LateCharge } from '#lib/programs/telemetry/spans/charge-span';
import { addressKey, type Span } from '#lib/programs/telemetry/spans/span';
import { callOf, newId } from '#tests/support/settlement';
import { decodeSpans, type ReceivedSpan } from '#tests/support/telemetry/decode';

const customer = { workspaceId: newId(), keyId: newId() };
const origin = {
  resource: [['service.name', 'model-gateway']] as const,
  scope: { name: 'model-gateway', version: '1.2.3' },
};
const received = (spans: readonly Span[]): ReceivedSpan[] => decodeSpans(encodeTraces(origin, spans));
const addresses = new Map([[addressKey('openai', 'chat'), { host: 'api.openai.example', port: 443 }]]);
const spansOfCall = (given: Partial<CallRecord> = {}) =>
  received(spansOf(callOf(customer, given), addresses));
const digits = (uuid: string) => uuid.replaceAll('-', '');

describe('the span of a call (contract: call-log/spans)', () => {
  it('has the same facts as its row in the log', () => {
    const call = callOf(customer, {
      atMs: 1_763_812_800_123,
      clientRequestId: 'mine-1',
      requestedModel: 'gpt-4.1',
      streamed: true,
      latencyMs: 1500,
      firstByteMs: 250,
      overheadMs: 0.75,
      flags: ['usage_anomaly', 'unpriced_tier'],
      usage: usageOf({
        input: 100,
        cachedInput: 40,
        cacheWrite5m: 7,
        cacheWrite1h: 3,
        output: 60,
        reasoning: 20,
      }),
      costNano: 12_345_678_901n,
      holdNano: 12_345_678_896n,
      priceVersionId: newId(),
      userAgent: 'openai/7',
    });
    const [span] = received(spansOf(call, addresses));
    expect(span).toMatchObject({
      traceId: digits(call.id),
      spanId: digits(call.id).slice(16),
      parentSpanId: '',
      name: 'chat openai/gpt-4.1',
      kind: 2,
      start: '1763812800123000000',
      end: '1763812801623000000',
      status: 0,
      resource: { 'service.name': 'model-gateway' },
      scope: 'model-gateway',
    });
    expect(span?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4.1',
      'gen_ai.response.model': 'openai/gpt-4.1',
      'gen_ai.request.stream': true,
      'gen_ai.response.time_to_first_chunk': 0.25,
      'gen_ai.usage.input_tokens': '150n',
      'gen_ai.usage.output_tokens': '60n',
      'gen_ai.usage.cache_read.input_tokens': '40n',
      'gen_ai.usage.cache_creation.input_tokens': '10n',
      'gen_ai.usage.reasoning.output_tokens': '20n',
      'http.response.status_code': '200n',
      'user_agent.original': 'openai/7',
      'model_gateway.call.id': call.id,
      'model_gateway.workspace.id': customer.workspaceId,
      'model_gateway.key.id': customer.keyId,
      'model_gateway.client_request_id': 'mine-1',
      'model_gateway.family': 'chat',
      'model_gateway.operation': 'chat.create',
      'model_gateway.provider': 'openai',
      'model_gateway.end_reason': 'completed',
      'model_gateway.usage_source': 'reported',
      'model_gateway.flags': ['usage_anomaly', 'unpriced_tier'],
      'model_gateway.latency_ms': '1500n',
      'model_gateway.first_byte_ms': '250n',
      'model_gateway.overhead_ms': 0.75,
      'model_gateway.attempts': '1n',
      'model_gateway.hold.nano_usd': '12345678896n',
      'model_gateway.over_hold.nano_usd': '5n',
      'model_gateway.cost.usd': 12.345678901,
      'model_gateway.cost.nano_usd': '12345678901n',
      'model_gateway.cost.lines': JSON.stringify([
        {
          class: 'input',
          quantity: 12_345_678_901,
          unitPriceNano: '1000000',
          costNano: '12345678901.000000',
        },
      ]),
      'model_gateway.price_version.id': call.priceVersionId,
      'model_gateway.usage.input': '100n',
      'model_gateway.usage.cachedInput': '40n',
      'model_gateway.usage.cacheWrite5m': '7n',
      'model_gateway.usage.cacheWrite1h': '3n',
      'model_gateway.usage.output': '60n',
      'model_gateway.usage.reasoning': '20n',
    });
  });

  it.each([
    [{ status: 429, errorCode: 'api_key_rpm_exceeded', endReason: 'refused' }, 'api_key_rpm_exceeded'],
    [{ status: 500, errorCode: null, endReason: 'completed' }, '500'],
    [{ status: 200, errorCode: null, endReason: 'upstream_error' }, 'upstream_error'],
    [{ status: 500, errorCode: null, endReason: 'interrupted' }, 'interrupted'],
  ] as const)('of %j is an error of type %s', (given, type) => {
    const [span] = spansOfCall(given);
    expect(span).toMatchObject({ status: 2, attributes: { 'error.type': type } });
  });

  it('of a client that left is no error', () => {
    const [span] = spansOfCall({ endReason: 'client_gone' });
    expect(span?.status).toBe(0);
    expect(span?.attributes).not.toHaveProperty('error.type');
  });

  it('of a refused call names no model that is not in the catalogue, and no tokens', () => {
    const refused = { answeringModel: null, provider: null, status: 400, errorCode: 'model_not_allowed' };
    const [span, ...others] = spansOfCall({
      ...refused,
      requestedModel: 'my secret plan',
      endReason: 'refused',
      usageSource: 'none',
      attempts: [],
      usage: usageOf({}),
      costNano: 0n,
    });
    expect(others).toEqual([]);
    expect(span?.name).toBe('chat');
    expect(Object.keys(span?.attributes ?? {}).filter((name) => name.startsWith('gen_ai.usage'))).toEqual([]);
  });

  it.each([
    ['images.generate', 'generate_content', 'image'],
    ['videos.create', 'generate_content', 'video'],
    ['messages.create', 'chat', undefined],
    ['videos.retrieve', undefined, undefined],
  ])('of %s is named %s', (operation, name, output) => {
    const [span] = spansOfCall({ operation });
    expect(span?.attributes['gen_ai.operation.name']).toBe(name);
    expect(span?.attributes['gen_ai.output.type']).toBe(output);
  });

  it('is sent although a text in it is no Unicode', () => {
    const [span] = spansOfCall({ requestedModel: 'x\ud800y' });
    expect(span?.attributes['gen_ai.request.model']).toBe('x\ufffdy');
  });

  it('is left out for an id that no trace can have', () => {
    expect(spansOf(callOf(customer, { id: 'noid-0123456789abcdef' }), addresses)).toEqual([]);
  });
});

describe('the spans of attempts', () => {
  const attempts = [
    {
      provider: 'xai',
      model: 'grok',
      status: null,
      error: 'first_byte_timeout',
      startMs: 5,
      durationMs: 100,
      upstreamRequestId: null,
      credential: 'default',
      possibleDuplicate: true,
      providerCode: 'overloaded',
      providerMessage: 'The engine is overloaded.',
    },
    {
      provider: 'openai',
      model: 'gpt-4.1',
      status: 200,
      error: null,
      startMs: 110,
      durationMs: 40,
      upstreamRequestId: 'req_9',
      credential: 'default',
      possibleDuplicate: false,
      providerCode: null,
      providerMessage: null,
    },
  ];

  it('are children of the call, with the provider that each asked and what it answered', () => {
    const call = callOf(customer, { atMs: 1_763_812_800_000, attempts });
    const [root, ...children] = received(spansOf(call, addresses));
    expect(children).toMatchObject([
      {
        traceId: root?.traceId,
        parentSpanId: root?.spanId,
        name: 'chat grok',
        kind: 3,
        status: 2,
        start: '1763812800005000000',
        end: '1763812800105000000',
        attributes: {
          'gen_ai.provider.name': 'x_ai',
          'gen_ai.request.model': 'grok',
          'error.type': 'first_byte_timeout',
          'model_gateway.provider': 'xai',
          'model_gateway.possible_duplicate': true,
          'model_gateway.provider_error.code': 'overloaded',
          'model_gateway.provider_error.message': 'The engine is overloaded.',
          'model_gateway.attempt.number': '1n',
        },
      },
      {
        traceId: root?.traceId,
        parentSpanId: root?.spanId,
        status: 0,
        attributes: {
          'http.response.status_code': '200n',
          'model_gateway.upstream_request_id': 'req_9',
          'server.address': 'api.openai.example',
          'server.port': '443n',
        },
      },
    ]);
    expect(children[0]?.attributes).not.toHaveProperty('server.address');
    expect(new Set([root, ...children].map((span) => span?.spanId)).size).toBe(3);
    expect(received(spansOf(call, addresses))).toEqual([root, ...children]);
  });

  it('repeat neither tokens nor cost, so that a sum over all spans counts each once', () => {
    const [, ...children] = spansOfCall({ attempts });
    const names = children.flatMap(({ attributes }) => Object.keys(attributes));
    expect(names.filter((name) => /usage|cost/.test(name))).toEqual([]);
  });
});

describe('the span of a late charge', () => {
  const callId = newId();
  const charge: LateCharge = {
    kind: 'job',
    callId,
    ...customer,
    provider: 'google',
    model: 'google/veo',
    state: 'completed',
    operation: 'videos.create',
    startMs: 1_763_812_800_000,
    settledMs: 1_763_812_860_000,
    costNano: 3_200_000_000n,
    usage: { videoSeconds: 8 },
    usageSource: 'reported',
    flags: [],
    priceVersionId: newId(),
  };

  it('is a child of its call and lasts as long as the job', () => {
    const span = chargeSpanOf(charge);
    const [found] = received(span ? [span] : []);
    expect(found).toMatchObject({
      traceId: digits(callId),
      parentSpanId: digits(callId).slice(16),
      name: 'settle job',
      kind: 1,
      start: '1763812800000000000',
      end: '1763812860000000000',
      status: 0,
      attributes: {
        'gen_ai.provider.name': 'gcp.gemini',
        'model_gateway.charge': 'job',
        'model_gateway.cost.nano_usd': '3200000000n',
        'model_gateway.usage.videoSeconds': '8n',
        'model_gateway.job.state': 'completed',
      },
    });
  });

  it('gives back what an adjustment lowers, with its own id', () => {
    const spans = [charge, { ...charge, kind: 'adjustment' as const, costNano: -5n }].flatMap(
      (one) => chargeSpanOf(one) ?? [],
    );
    const [job, adjustment] = received(spans);
    expect(adjustment?.attributes['model_gateway.cost.nano_usd']).toBe('-5n');
    expect(new Set([job?.spanId, adjustment?.spanId, job?.parentSpanId]).size).toBe(3);
  });
});
