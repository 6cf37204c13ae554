import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Attribute, AttributeValue, Span } from '#lib/programs/telemetry/spans/span';

// Field numbers are those of opentelemetry/proto: trace/v1/trace.proto, common/v1/common.proto,
// resource/v1/resource.proto and collector/trace/v1/trace_service.proto, which never change.

const kinds = { internal: 1, server: 2, client: 3 } as const;
const statusError = 2;

/** Where spans come from. */
export interface Origin {
  readonly resource: readonly Attribute[];
  readonly scope: { readonly name: string; readonly version: string };
}

/** An ExportTraceServiceRequest with the spans of one origin. */
export function encodeTraces({ resource, scope }: Origin, spans: readonly Span[]): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  message(writer, 1, () => {
    message(writer, 1, () => writeAttributes(writer, 1, resource));
    message(writer, 2, () => {
      message(writer, 1, () => {
        text(writer, 1, scope.name);
        text(writer, 2, scope.version);
      });
      for (const span of spans) message(writer, 2, () => writeSpan(writer, span));
    });
  });
  return writer.finish();
}

function writeSpan(writer: BinaryWriter, span: Span): void {
  writer.tag(1, WireType.LengthDelimited).bytes(span.traceId);
  writer.tag(2, WireType.LengthDelimited).bytes(span.spanId);
  if (span.parentSpanId) writer.tag(4, WireType.LengthDelimited).bytes(span.parentSpanId);
  text(writer, 5, span.name);
  writer.tag(6, WireType.Varint).int32(kinds[span.kind]);
  writer.tag(7, WireType.Bit64).fixed64(nanoseconds(span.startMs));
  writer.tag(8, WireType.Bit64).fixed64(nanoseconds(span.endMs));
  writeAttributes(writer, 9, span.attributes);
  if (span.failed) message(writer, 15, () => writer.tag(3, WireType.Varint).int32(statusError));
}

function writeAttributes(writer: BinaryWriter, field: number, attributes: readonly Attribute[]): void {
  for (const [name, value] of attributes) {
    message(writer, field, () => {
      text(writer, 1, name);
      message(writer, 2, () => writeValue(writer, value));
    });
  }
}

function writeValue(writer: BinaryWriter, value: AttributeValue): void {
  if (typeof value === 'string') text(writer, 1, value);
  else if (typeof value === 'boolean') writer.tag(2, WireType.Varint).bool(value);
  else if (typeof value === 'bigint') writer.tag(3, WireType.Varint).int64(value);
  else if (typeof value === 'number') writer.tag(4, WireType.Bit64).double(value);
  else {
    message(writer, 5, () => {
      for (const one of value) message(writer, 1, () => text(writer, 1, one));
    });
  }
}

function message(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write();
  writer.join();
}

/** Half a surrogate pair is not valid UTF-8, and the whole request would be refused for it. */
function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value.isWellFormed() ? value : value.toWellFormed());
}

function nanoseconds(ms: number): bigint {
  return BigInt.asUintN(64, BigInt(Math.max(0, Math.round(Number.isFinite(ms) ? ms : 0))) * 1_000_000n);
}

/** What a collector says about a request that it accepted: how many spans it rejected, and why. */
export interface PartialSuccess {
  readonly rejected: number;
  readonly message: string;
}

/** Reads an ExportTraceServiceResponse. @throws Error if it is invalid. */
export function decodeAnswer(bytes: Uint8Array): PartialSuccess {
  let found: PartialSuccess = { rejected: 0, message: '' };
  eachField(bytes, (field, reader) => {
    if (field !== 1) return false;
    let [rejected, message] = [0, ''];
    eachField(reader.bytes(), (inner, part) => {
      if (inner === 1) rejected = Number(part.int64());
      else if (inner === 2) message = part.string();
      else return false;
      return true;
    });
    found = { rejected, message };
    return true;
  });
  return found;
}

/** The message of a google.rpc.Status, with which a collector explains a refusal; empty for anything else. */
export function decodeRefusal(bytes: Uint8Array): string {
  let found = '';
  try {
    eachField(bytes, (field, reader) => {
      if (field !== 2) return false;
      found = reader.string();
      return true;
    });
  } catch {
    return '';
  }
  return found;
}

/** @param take reads the value of the field, or says that it did not. */
function eachField(bytes: Uint8Array, take: (field: number, reader: BinaryReader) => boolean): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (!take(field, reader)) reader.skip(type, field);
  }
}
