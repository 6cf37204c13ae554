import generated from '@opentelemetry/otlp-transformer/build/src/generated/root.js';

/** A span as a collector understands it. */
export interface ReceivedSpan {
  /** Hex digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** '' for the root of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** As the protocol numbers them: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  /** Nanoseconds since the epoch, decimal. */
  readonly start: string;
  readonly end: string;
  /** 2 is an error. */
  readonly status: number;
  readonly attributes: Readonly<Record<string, ReceivedValue>>;
  readonly resource: Readonly<Record<string, ReceivedValue>>;
  readonly scope: string;
}

/** int64 comes as decimal text with an "n" after it, so that it differs from a double. */
export type ReceivedValue = string | number | boolean | readonly string[];

interface Message {
  decode(bytes: Uint8Array): unknown;
  encode(value: object): { finish(): Uint8Array };
  toObject(value: unknown, options: object): unknown;
}

interface Value {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly Value[] };
}

type KeyValues = readonly { readonly key: string; readonly value: Value }[];

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: KeyValues };
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly kind: number;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes: KeyValues;
        readonly status?: { readonly code: number };
      }[];
    }[];
  }[];
}

/** The messages that OpenTelemetry generated from its own .proto files. */
function messageOf(name: string): Message {
  const root = generated as unknown as { lookup(path: string): unknown };
  let found: unknown = root;
  for (const part of `opentelemetry.proto.collector.trace.v1.${name}`.split('.')) {
    found = (found as Record<string, unknown>)[part];
  }
  return found as Message;
}

const request = messageOf('ExportTraceServiceRequest');
const answer = messageOf('ExportTraceServiceResponse');

/** The spans of an ExportTraceServiceRequest. @throws Error if the bytes are not one. */
export function decodeSpans(bytes: Uint8Array): ReceivedSpan[] {
  const decoded = request.toObject(request.decode(bytes), { longs: String, bytes: String, arrays: true });
  return (decoded as Request).resourceSpans.flatMap(({ resource: { attributes }, scopeSpans }) => {
    const resource = recordOf(attributes);
    return scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId ?? ''),
        name: span.name,
        kind: span.kind,
        start: span.startTimeUnixNano,
        end: span.endTimeUnixNano,
        status: span.status?.code ?? 0,
        attributes: recordOf(span.attributes),
        resource,
        scope: scope.name,
      })),
    );
  });
}

/** The answer of a collector that rejects some spans of a request. */
export function encodePartialSuccess(rejectedSpans: number, errorMessage: string): Uint8Array {
  return answer.encode({ partialSuccess: { rejectedSpans, errorMessage } }).finish();
}

function hex(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

function recordOf(pairs: KeyValues): Record<string, ReceivedValue> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, valueIn(value)]));
}

function valueIn(value: Value): ReceivedValue {
  if (value.intValue !== undefined) return `${value.intValue}n`;
  if (value.arrayValue) return value.arrayValue.values.map((one) => one.stringValue ?? '');
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? '';
}
