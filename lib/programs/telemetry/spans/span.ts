/** A `bigint` travels as int64, a `number` as double. */
export type AttributeValue = string | boolean | bigint | number | readonly string[];
export type Attribute = readonly [name: string, value: AttributeValue];

/** Leaves out attributes without a value. */
export function present(attributes: readonly (readonly [string, AttributeValue | null])[]): Attribute[] {
  return attributes.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

/** A span of the OpenTelemetry data model, as far as calls need it. */
export interface Span {
  /** 16 bytes. */
  readonly traceId: Uint8Array;
  /** 8 bytes. */
  readonly spanId: Uint8Array;
  /** null: the root of its trace. */
  readonly parentSpanId: Uint8Array | null;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  /** ms since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: readonly Attribute[];
  readonly failed: boolean;
}

/** Where a provider is reached for one family. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** By provider and family, as `addressKey` writes the two. */
export type ServerAddresses = ReadonlyMap<string, ServerAddress>;

export function addressKey(provider: string, family: string): string {
  return `${provider} ${family}`;
}

/** The 16 bytes of a UUID: the trace of a call is its id. null for any other string. */
export function traceIdOf(uuid: string): Uint8Array | null {
  const digits = uuid.replaceAll('-', '');
  return /^[0-9a-f]{32}$/.test(digits) ? Buffer.from(digits, 'hex') : null;
}

/** Marks that distinguish the spans of one trace; attempts take `attempt` and the numbers after it. */
export const spanMarks = { call: 0, job: 1, adjustment: 2, attempt: 3 } as const;

/**
 * The id of a span in a call's trace: the last 8 bytes of the call's id, its random part (which the bits of the variant
 * keep from being zero), with the mark in its last byte.
 */
export function spanIdOf(callId: string, mark: number): Uint8Array {
  const id = Buffer.from(callId.replaceAll('-', '').slice(16), 'hex');
  id[7] = (id[7] ?? 0) ^ (mark & 0xff);
  return id;
}
