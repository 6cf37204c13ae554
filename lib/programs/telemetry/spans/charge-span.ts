import { noUsage, type Usage, type UsageSource } from '#lib/core/metering/usage';
import { operationAttributes, providerName, tokenAttributes } from '#lib/programs/telemetry/spans/gen-ai';
import {
  type Attribute,
  present,
  type Span,
  spanIdOf,
  spanMarks,
  traceIdOf,
} from '#lib/programs/telemetry/spans/span';
import { costAttributes, usageAttributes } from '#lib/programs/telemetry/spans/usd';

/** A charge that came after its call had ended: for a job, or a correction by a stored response. */
export interface LateCharge {
  readonly kind: 'job' | 'adjustment';
  readonly callId: string;
  readonly workspaceId: string;
  /** What is unknown about an adjustment is on the span of its call. */
  readonly keyId: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly operation: string | null;
  /** How the job ended. */
  readonly state: string | null;
  /** ms since the epoch; for a job, when it was created. */
  readonly startMs: number;
  readonly settledMs: number;
  /** Cost; for an adjustment, what it adds to the call's cost, which is negative if money is given back. */
  readonly costNano: bigint;
  /** For an adjustment, the difference. */
  readonly usage: Partial<Usage>;
  readonly usageSource: UsageSource | null;
  readonly flags: readonly string[];
  readonly priceVersionId: string | null;
}

/** A child of the call's span, with the same ids each time; null for an id that is not a UUID. */
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
  const { provider, operation, state, flags, usageSource } = charge;
  return present([
    ['model_gateway.call.id', charge.callId],
    ['model_gateway.workspace.id', charge.workspaceId],
    ['model_gateway.charge', charge.kind],
    ...costAttributes(charge.costNano),
    ...usageAttributes(charge.usage),
    ['model_gateway.key.id', charge.keyId],
    ['model_gateway.provider', provider],
    ['gen_ai.provider.name', provider && providerName(provider)],
    ['gen_ai.response.model', charge.model],
    ['model_gateway.operation', operation],
    ...(operation === null ? [] : operationAttributes(operation)),
    ['model_gateway.job.state', state],
    ['error.type', state === 'failed' ? 'job_failed' : null],
    ['model_gateway.flags', flags.length > 0 ? flags : null],
    ['model_gateway.price_version.id', charge.priceVersionId],
    ['model_gateway.usage_source', usageSource],
    ...(usageSource === null || usageSource === 'none'
      ? []
      : tokenAttributes({ ...noUsage, ...charge.usage })),
  ]);
}
