import type { Settings } from '#lib/core/schemas/settings';

/** Where the spans of calls go, and how (docs/guide/telemetry.md). */
export interface TelemetrySettings {
  /** The collector's address for traces, without credentials. */
  readonly url: string;
  /** Sent with each request; their values may be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long one request may take, ms. */
  readonly timeoutMs: number;
  readonly gzip: boolean;
  /** Attributes of the resource, `service.name` among them. */
  readonly resource: readonly (readonly [name: string, value: string])[];
  /** How many bytes of journal files are kept for an unavailable collector. */
  readonly backlogBytes: number;
}

type Given = Readonly<Settings>;

/**
 * The exporter's settings, by the environment variables of the OpenTelemetry specification; a variable for traces takes
 * precedence over the variable for all signals.
 * @returns null if no address is set, or the exporter is switched off; and all problems, each with its remedy.
 */
export function readTelemetry(given: Given): {
  readonly telemetry: TelemetrySettings | null;
  readonly problems: readonly string[];
} {
  const off = { telemetry: null, problems: [] };
  const url = addressOf(given);
  if (url === null || given.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return off;
  if (given.OTEL_TRACES_EXPORTER === 'none') return off;
  const problems: string[] = [];
  if (typeof url !== 'string') problems.push(url.problem);
  const resource = new Map<string, string>([['service.name', 'model-gateway']]);
  for (const [name, value] of pairsOf(given, 'OTEL_RESOURCE_ATTRIBUTES', problems)) resource.set(name, value);
  if (given.OTEL_SERVICE_NAME) resource.set('service.name', given.OTEL_SERVICE_NAME);
  const compression =
    given.OTEL_EXPORTER_OTLP_TRACES_COMPRESSION ?? given.OTEL_EXPORTER_OTLP_COMPRESSION ?? 'gzip';
  if (compression !== 'gzip' && compression !== 'none') {
    problems.push('OTEL_EXPORTER_OTLP_COMPRESSION: unknown value. Set gzip or none.');
  }
  const protocol = given.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? given.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol !== undefined && protocol !== 'http/protobuf') {
    problems.push(
      'OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf is supported. Unset it, or set http/protobuf.',
    );
  }
  const telemetry: TelemetrySettings = {
    url: typeof url === 'string' ? url : '',
    headers: headersOf(given, problems),
    timeoutMs: timeoutOf(given, problems),
    gzip: compression === 'gzip',
    resource: [...resource],
    backlogBytes: given.TELEMETRY_BACKLOG_BYTES,
  };
  return problems.length > 0 ? { telemetry: null, problems } : { telemetry, problems };
}

/** The address for all signals is a base, to which the path of traces is added; the one for traces is complete. */
function addressOf(given: Given): string | { readonly problem: string } | null {
  const own = given.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = given.OTEL_EXPORTER_OTLP_ENDPOINT;
  const name = own ? 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' : 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const text = own || base;
  if (!text) return null;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    return { problem: `${name}: not a valid URL. Set one such as http://localhost:4318.` };
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    return {
      problem: `${name}: the URL must not contain a user or password. Put the credential in OTEL_EXPORTER_OTLP_HEADERS.`,
    };
  }
  if (!own) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  url.hash = '';
  return url.href;
}

function headersOf(given: Given, problems: string[]): Record<string, string> {
  const name = given.OTEL_EXPORTER_OTLP_TRACES_HEADERS
    ? 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'
    : 'OTEL_EXPORTER_OTLP_HEADERS';
  const headers: Record<string, string> = {};
  for (const [header, value] of pairsOf(given, name, problems)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header) || !/^[\t\x20-\x7e]*$/.test(value)) {
      problems.push(
        `${name}: invalid name or value of a header. Use name=value,name=value; write a comma as %2C.`,
      );
      break;
    }
    headers[header.toLowerCase()] = value;
  }
  return headers;
}

type PairSetting =
  | 'OTEL_RESOURCE_ATTRIBUTES'
  | 'OTEL_EXPORTER_OTLP_HEADERS'
  | 'OTEL_EXPORTER_OTLP_TRACES_HEADERS';

/** `name=value,name=value`, values percent-encoded. A problem never quotes them: they may be secrets. */
function pairsOf(given: Given, setting: PairSetting, problems: string[]): (readonly [string, string])[] {
  const parts = (given[setting] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  return parts.flatMap((part) => {
    const mark = part.indexOf('=');
    const name = decoded(part.slice(0, mark).trim());
    if (mark > 0 && name !== '') return [[name, decoded(part.slice(mark + 1).trim())] as const];
    problems.push(`${setting}: not a valid list. Use name=value,name=value; write a comma as %2C.`);
    return [];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const longestTimeoutMs = 600_000;

function timeoutOf(given: Given, problems: string[]): number {
  const text = given.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? given.OTEL_EXPORTER_OTLP_TIMEOUT ?? '10000';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (ms < 1 || ms > longestTimeoutMs) {
    problems.push(
      `OTEL_EXPORTER_OTLP_TIMEOUT: not a valid time. Set milliseconds from 1 to ${longestTimeoutMs}.`,
    );
  }
  return ms;
}
