import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { incident, recentIncidents } from '#lib/control/operations/incident/find';
import {
  type Counted,
  type CountedDay,
  componentStates,
  figuresOf,
  type Quantiles,
} from '#lib/control/operations/status/figures';
import { dayOf, refreshStatus, statusDays } from '#lib/control/operations/status/refresh';
import type { Store } from '#lib/control/operations/store';
import type { Catalogue } from '#lib/core/facts/snapshot';

const dayMs = 86_400_000;

const component = z.object({
  id: z.string().describe('Id of the provider; "gateway" for the gateway itself.'),
  name: z.string(),
  state: z
    .enum(componentStates)
    .describe('By the last hour or else the last two days, and by open incidents; no data: too few calls.'),
  availability: z
    .number()
    .nullable()
    .describe(
      'Share of calls without a failure of this component in all of these days, from 0 to 1; null: no data yet.',
    ),
  latencyMs: z
    .object({
      p50: z.number().describe('Half of the calls took at most this long, ms.'),
      p95: z.number().describe('95% of the calls took at most this long, ms.'),
    })
    .nullable()
    .describe(
      'For the gateway, the time that it adds to a call; for a provider, the time to its first byte in the last 7 days.',
    ),
  days: z.array(z.number().nullable()).describe('Availability of each day; null: too few calls.'),
});
export type StatusComponent = z.output<typeof component>;

const status = z.object({
  measuredAt: z.iso.datetime().nullable().describe('When the figures were last updated.'),
  days: z.array(z.iso.date()).describe('The days in UTC, oldest first.'),
  gateway: component,
  providers: z.array(component),
  incidents: z.array(incident).describe('Incidents of these days and open ones, newest first.'),
});
export type Status = z.output<typeof status>;

/** Reveals nothing about who calls, or how much: only shares and durations. */
export const showStatus = read({
  name: 'status.show',
  summary: 'Shows the status page: the gateway and its providers in the last 90 days, with incidents.',
  reach: 'self',
  permission: null,
  output: status,
  http: [{ method: 'GET', path: '/status' }],
  line: {},
  text: ({ gateway, providers, incidents }) =>
    [
      ...[gateway, ...providers].map(lineOf),
      ...incidents.map(({ title, state, startedAt }) => `${startedAt}  ${state}: ${title}`),
    ].join('\n'),
  run: async ({ store, pool, nowMs, catalogue }) => {
    refreshStatus(pool, nowMs);
    const today = dayOf(nowMs);
    const starts = Array.from({ length: statusDays }, (_, at) => today - (statusDays - 1 - at) * dayMs);
    const [days, hour, incidents, names] = [
      await readDays(store, starts[0] ?? today),
      await readHour(store),
      await recentIncidents(store, new Date(starts[0] ?? today)),
      namesOf(await catalogue()),
    ];
    const componentOf = (id: string, name: string): StatusComponent => {
      const own = days.get(id === 'gateway' ? '' : id);
      const open = incidents.filter(({ resolvedAt, affects }) => resolvedAt === null && affects.includes(id));
      const lastHour = hour.counted.get(id === 'gateway' ? '' : id) ?? { calls: 0, failed: 0 };
      const figures = figuresOf(
        starts.map((start) => own?.get(start) ?? null),
        lastHour,
        open.map(({ impact }) => impact),
      );
      return { id, name, ...figures, days: [...figures.days] };
    };
    return {
      measuredAt: hour.at?.toISOString() ?? null,
      days: starts.map((start) => new Date(start).toISOString().slice(0, 10)),
      gateway: componentOf('gateway', 'Gateway'),
      providers: [...names].map(([id, name]) => componentOf(id, name)),
      incidents,
    };
  },
});

function lineOf({ name, state, availability, latencyMs }: StatusComponent): string {
  const share = availability === null ? 'no data yet' : `${Math.floor(availability * 10_000) / 100}%`;
  return `${name}: ${state}, ${share}${latencyMs ? `, ${Number(latencyMs.p50.toFixed(1))} ms` : ''}`;
}

export const statusOperations = [showStatus];

/** Providers that can be called, by name. */
function namesOf({ models, providers }: Catalogue): ReadonlyMap<string, string> {
  const used = new Set(
    [...models.values()].flatMap(({ offers }) =>
      offers.filter(({ provider }) => provider.credentials.length > 0).map(({ provider }) => provider.id),
    ),
  );
  const found = [...providers.values()].filter(({ id }) => used.has(id));
  return new Map(
    found.sort((one, other) => one.name.localeCompare(other.name, 'en')).map(({ id, name }) => [id, name]),
  );
}

interface StoredDay {
  readonly day: Date;
  readonly provider: string;
  readonly calls: string;
  readonly failed: string;
  readonly firstByte: string;
  readonly p50: number | null;
  readonly p95: number | null;
}

/** By provider and start of the day. */
async function readDays(store: Pick<Store, 'query'>, fromMs: number) {
  const rows = await store.query<StoredDay>(
    `SELECT day, provider, calls::text, failed::text, first_byte::text AS "firstByte", own_p50 AS p50, own_p95 AS p95
     FROM status_day WHERE day >= $1::timestamptz`,
    [new Date(fromMs)],
  );
  const found = new Map<string, Map<number, CountedDay>>();
  for (const { day, provider, calls, failed, firstByte, p50, p95 } of rows) {
    const days = found.get(provider) ?? new Map<number, CountedDay>();
    found.set(provider, days);
    const own: Quantiles | null = p50 === null || p95 === null ? null : { p50, p95 };
    days.set(day.getTime(), { calls: Number(calls), failed: Number(failed), firstByte, own });
  }
  return found;
}

const lastHour = z.object({ lastHour: z.array(z.tuple([z.string(), z.number(), z.number()])) });

async function readHour(
  store: Pick<Store, 'query'>,
): Promise<{ at: Date | null; counted: ReadonlyMap<string, Counted> }> {
  const [row] = await store.query<{ at: Date | null; result: unknown }>(
    `SELECT done_at AS at, result FROM fleet_duty WHERE name = 'status'`,
    [],
  );
  const { data } = lastHour.safeParse(row?.result);
  const counted = data?.lastHour.map(([id, calls, failed]) => [id, { calls, failed }] as const) ?? [];
  return { at: row?.at ?? null, counted: new Map(counted) };
}
