import type { Logger } from 'pino';
import { messageOf } from '#lib/core/errors';
import type { Catalogue } from '#lib/core/facts/snapshot';
import { getRuntime } from '#lib/gateway/flow/runtime';
import type { CloseEntry } from '#lib/gateway/settlement/pure/entry';
import type { Db } from '#lib/platform/data/db';
import type { Env } from '#lib/platform/env/env';
import { ownVersion } from '#lib/platform/own-version';
import { type Exporter, startExporter } from '#lib/programs/telemetry/exporter';
import { shelveInterrupted } from '#lib/programs/telemetry/interrupted';
import { LateCharges } from '#lib/programs/telemetry/late-charges';
import { addressKey, type ServerAddress } from '#lib/programs/telemetry/spans/span';

/** The exporter of this process, which is off unless a collector is set. It never stops a call. */
export interface Telemetry {
  /** Called by recovery with the calls that a dead process left open; undefined while it is off. */
  readonly onInterrupted: ((ownerId: string, ended: readonly CloseEntry[]) => Promise<void>) | undefined;
  /** Before the journal is opened. @returns null while it is off. */
  start(ownerId: string, nowMs: number): Exporter | null;
}

interface TelemetryParts {
  readonly db: Db;
  readonly journalDir: string;
  readonly log: Logger;
  /** Number of the worker, 1 if absent; each has its own folder, and the first sends late charges for all. */
  readonly worker?: number | undefined;
}

export function openTelemetry(
  { telemetry }: Pick<Env, 'telemetry'>,
  { db, journalDir, log, worker = 1 }: TelemetryParts,
): Telemetry {
  if (telemetry === null) return { onInterrupted: undefined, start: () => null };
  const say = (level: 'warn' | 'error' | 'info', message: string) => log[level](message);
  const fail = (what: string, error: unknown) => say('error', `telemetry: ${what}: ${messageOf(error)}`);
  return {
    async onInterrupted(ownerId, ended) {
      try {
        await shelveInterrupted(db.pool, journalDir, ownerId, ended);
      } catch (error) {
        fail('interrupted calls will be missing', error);
      }
    },
    start(ownerId, nowMs) {
      const addresses = () => addressesOf(getRuntime()?.catalogue() ?? null);
      const version = ownVersion();
      const charges = (from: string | null) =>
        new LateCharges(db.pool, from === null ? nowMs : Date.parse(from));
      const own = { ownerId, worker, charges: worker === 1 ? charges : null };
      const parts = { settings: telemetry, journalDir, ...own, version, addresses, log: say };
      try {
        return startExporter(parts);
      } catch (error) {
        fail('it is off until the next start', error);
        return null;
      }
    },
  };
}

const defaultPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

function addressesOf(catalogue: Catalogue | null): readonly (readonly [string, ServerAddress])[] {
  const found = new Map<string, ServerAddress>();
  for (const provider of catalogue?.providers.values() ?? []) {
    for (const [family, address] of provider.families) {
      if (address.state !== 'ready') continue;
      const { hostname, port, protocol } = address.url;
      const server = { host: hostname, port: port === '' ? (defaultPorts[protocol] ?? 0) : Number(port) };
      found.set(addressKey(provider.id, family), server);
    }
  }
  return [...found];
}
