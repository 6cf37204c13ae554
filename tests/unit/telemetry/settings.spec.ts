import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { EnvError, envSecret, readEnv } from '#lib/platform/env/env';
import type { TelemetrySettings } from '#lib/platform/env/telemetry-settings';

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-telemetry-'));
const read = (source: Record<string, string>) => readEnv({ DATA_DIR: dataDir, ...source }).telemetry;
const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

function problemsOf(source: Record<string, string>): readonly string[] {
  try {
    read({ ...collector, ...source });
  } catch (error) {
    if (error instanceof EnvError) return error.problems;
    throw error;
  }
  return [];
}

it('is off without an address, and where the SDK or the exporter of traces is switched off', () => {
  expect(read({})).toBeNull();
  expect(read({ ...collector, OTEL_SDK_DISABLED: 'true' })).toBeNull();
  expect(read({ ...collector, OTEL_TRACES_EXPORTER: 'none' })).toBeNull();
});

it.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, 'http://collector:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example/otlp/' }, 'https://c.example/otlp/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/own' }, 'http://collector:4318/own'],
  [{ ...collector, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other:4318' }, 'http://other:4318/'],
])('%j is sent to %s', (source, url) => {
  expect(read(source)?.url).toBe(url);
});

it('compresses, waits ten seconds, and is named model-gateway by default', () => {
  expect(read(collector)).toMatchObject({
    headers: {},
    timeoutMs: 10_000,
    gzip: true,
    resource: [['service.name', 'model-gateway']],
    backlogBytes: 1024 ** 3,
  });
  const all = {
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20a%2Cb, x-team = blue ',
    OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=lost,deployment.environment.name=test%20one',
    OTEL_SERVICE_NAME: 'edge',
    TELEMETRY_BACKLOG_BYTES: '2048',
  };
  expect(read({ ...collector, ...all })).toMatchObject({
    headers: { authorization: 'Bearer a,b', 'x-team': 'blue' },
    timeoutMs: 2500,
    gzip: false,
    resource: [
      ['service.name', 'edge'],
      ['deployment.environment.name', 'test one'],
    ],
    backlogBytes: 2048,
  });
});

it('takes the variables of traces before those of all signals', () => {
  const own = {
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=2',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '2000',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'none',
  };
  expect(read({ ...collector, ...own })).toMatchObject({ headers: { b: '2' }, timeoutMs: 2000, gzip: false });
});

it.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT: .*http:/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:secret-word@collector' }, /OTEL_EXPORTER_OTLP_HEADERS/],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'secret-word' }, /^OTEL_EXPORTER_OTLP_HEADERS: .*name=value/],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=secret-word%0Ax: y' }, /^OTEL_EXPORTER_OTLP_HEADERS: /],
  [{ OTEL_EXPORTER_OTLP_TIMEOUT: 'soon' }, /^OTEL_EXPORTER_OTLP_TIMEOUT: .*milliseconds/],
  [{ OTEL_EXPORTER_OTLP_COMPRESSION: 'zstd' }, /gzip or none/],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /http\/protobuf/],
])('%j is refused with what to do, and never quoted', (source, problem) => {
  const found = problemsOf(source);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(problem);
  expect(found[0]).not.toContain('secret-word');
});

it('gives none of its settings to a provider as a credential', () => {
  process.env.OTEL_EXPORTER_OTLP_HEADERS = 'authorization=secret';
  expect(envSecret('OTEL_EXPORTER_OTLP_HEADERS')).toBeNull();
  delete process.env.OTEL_EXPORTER_OTLP_HEADERS;
});

describe('the settings in the guide for', () => {
  const guide = readFileSync('docs/guide/tracing-services.md', 'utf8');
  const basic = (header: string | undefined) => atob(header?.replace('Basic ', '') ?? '');

  function settingsOf(service: string): TelemetrySettings {
    const section = guide.split(`## ${service}\n`)[1]?.split('\n## ')[0] ?? '';
    const lines = section.split('\n').filter((line) => /^OTEL_\w+=/.test(line));
    // The first two are the service's address and its credential.
    const found = read(
      Object.fromEntries(Object.entries(parseEnv(lines.slice(0, 2).join('\n'))).map(pairOfText)),
    );
    if (!found) throw new Error(`no settings for ${service}`);
    return found;
  }
  const pairOfText = ([name, value]: [string, string | undefined]) => [name, value ?? ''] as const;

  it('Langfuse send both keys and the version of ingestion', () => {
    const { url, headers } = settingsOf('Langfuse');
    expect(url).toBe('https://cloud.langfuse.com/api/public/otel/v1/traces');
    expect(basic(headers.authorization)).toBe('pk-lf-1:sk-lf-1');
    expect(headers['x-langfuse-ingestion-version']).toBe('4');
  });

  it('Datadog send the API key to the address for traces, which is used as it is', () => {
    const { url, headers } = settingsOf('Datadog');
    expect(url).toBe('https://otlp.datadoghq.com/v1/traces');
    expect(headers).toEqual({ 'dd-api-key': '0123456789abcdef', 'dd-otlp-source': 'llmobs' });
  });

  it('Grafana send the instance id and the token, with the padding of Base64', () => {
    const { url, headers } = settingsOf('Grafana');
    expect(url).toBe('https://otlp-gateway-prod-eu-west-0.grafana.net/otlp/v1/traces');
    expect(basic(headers.authorization)).toBe('123456:glc_token');
  });
});
