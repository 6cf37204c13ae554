import { noUsage, type Usage, type UsageSource } from '#lib/core/metering/usage';
import {
  operationAttributes,
  providerAttribute,
  tokenAttributes,
} from '#lib/programs/telemetry/spans/gen-ai';
import {
  type Attribute,
  type Span,
  spanIdOf,
  spanMarks,
  traceIdOf,
} from '#lib/programs/telemetry/spans/span';
import { costAttributes, usageAttributes } from '#lib/programs/telemetry/spans/usd';

/** A charge that came after its call had ended: of a job, or what a stored response corrected. */
export interface LateCharge {
  readonly kind: 'job' | 'adjustment';
  readonly callId: string;
  readonly workspaceId: string;
  /** What is not known of an adjustment stands on the span of its call. */
  readonly keyId: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly operation: string | null;
  /** How the job ended. */
  readonly state: string | null;
  /** ms since the epoch; of a job when it was created. */
  readonly startMs: number;
  readonly settledMs: number;
  /** What it cost; of an adjustment what it adds to the call's cost, below zero where it gives back. */
  readonly costNano: bigint;
  /** Of an adjustment the difference. */
  readonly usage: Partial<Usage>;
  readonly usageSource: UsageSource | null;
  readonly flags: readonly string[];
  readonly priceVersionId: string | null;
}

/** A child of the call's span, with the same ids each time; null for an id that is no UUID. */
export function chargeSpanOf(charge: LateCharge): Span | null {
  const traceId = traceIdOf(charge.callId);
  if (!traceId) return null;
  return {
    traceId,
    spanId: spanIdOf(charge.callId, spanMarks[charge.kind]),
    parentSpanId: spanIdOf(charge.callId, spanMarks.call),
    name: charge.kind === 'job' ? 'settle job' : 'adjust charge',
    kind: 'internal',
    startMs: charge.startMs,
    endMs: Math.max(charge.startMs, charge.settledMs),
    attributes: attributesOf(charge),
    failed: charge.state === 'failed',
  };
}

function attributesOf(charge: LateCharge): Attribute[] {
  const { provider, model, keyId, state, operation, flags, usageSource, priceVersionId } = charge;
  const found: Attribute[] = [
    ['model_gateway.call.id', charge.callId],
    ['model_gateway.workspace.id', charge.workspaceId],
    ['model_gateway.charge', charge.kind],
    ...costAttributes(charge.costNano),
    ...usageAttributes(charge.usage),
  ];
  if (keyId !== null) found.push(['model_gateway.key.id', keyId]);
  if (provider !== null) found.push(['model_gateway.provider', provider], providerAttribute(provider));
  if (model !== null) found.push(['gen_ai.response.model', model]);
  if (operation !== null) {
    found.push(['model_gateway.operation', operation], ...operationAttributes(operation));
  }
  if (state !== null) found.push(['model_gateway.job.state', state]);
  if (state === 'failed') found.push(['error.type', 'job_failed']);
  if (flags.length > 0) found.push(['model_gateway.flags', flags]);
  if (priceVersionId !== null) found.push(['model_gateway.price_version.id', priceVersionId]);
  if (usageSource === null) return found;
  found.push(['model_gateway.usage_source', usageSource]);
  if (usageSource !== 'none') found.push(...tokenAttributes({ ...noUsage, ...charge.usage }));
  return found;
}
