import type { Measured } from './plan.ts';
import { median } from './statistics.ts';

/** Cases by the beginning of their names, each with what it shows; others show requests. */
const tables = [
  ['streams', streamRows],
  ['memory', memoryRows],
] as const;

export type Results = Readonly<Record<string, readonly Measured[]>>;

/** Medians over the rounds, one row a target, as Markdown tables. */
export function report(results: Results): string {
  const parts = Object.entries(results).map(([name, all]) => {
    const targets = [...new Set(all.map((one) => one.target))];
    const [, show] = tables.find(([kind]) => name.startsWith(kind)) ?? [];
    return `### ${name}\n\n${table((show ?? requestRows)(all, targets))}`;
  });
  return [...parts, `### ratios\n\n${table(ratioRows(results.throughput ?? []))}`].join('\n\n');
}

function requestRows(all: readonly Measured[], targets: readonly string[]): string[][] {
  const head = [
    'target',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'added p50 ms',
    'server core',
    'per core-second',
    'errors',
  ];
  const p50 = (one: Measured) => one.latencyMs.p50;
  const floor = middle(all, 'upstream', p50);
  const rows = targets.map((target) => {
    const own = middle(all, target, p50);
    return [
      target,
      Math.round(middle(all, target, (one) => one.perSecond)).toLocaleString('en'),
      own.toFixed(2),
      middle(all, target, (one) => one.latencyMs.p99).toFixed(2),
      added(own, floor),
      `${Math.round(middle(all, target, (one) => one.serverCore) * 100)} %`,
      Math.round(middle(all, target, perCore)).toLocaleString('en'),
      String(errorsOf(all, target)),
    ];
  });
  return [head, ...rows];
}

function streamRows(all: readonly Measured[], targets: readonly string[]): string[][] {
  const head = [
    'target',
    'first byte p50',
    'p99',
    'added p50',
    'event transit p50',
    'p99',
    'added p50',
    'gap p50',
    'p99',
    'KiB/stream',
    'server core',
    'errors',
  ];
  const first = (one: Measured) => one.latencyMs.p50;
  const transit = (one: Measured) => one.transitMs.p50;
  const rows = targets.map((target) => {
    const of = (read: (one: Measured) => number) => middle(all, target, read);
    return [
      target,
      of(first).toFixed(2),
      of((one) => one.latencyMs.p99).toFixed(2),
      added(of(first), middle(all, 'upstream', first)),
      of(transit).toFixed(2),
      of((one) => one.transitMs.p99).toFixed(2),
      added(of(transit), middle(all, 'upstream', transit)),
      of((one) => one.gapMs.p50).toFixed(1),
      of((one) => one.gapMs.p99).toFixed(1),
      of((one) => one.streamKib ?? 0).toFixed(1),
      `${Math.round(of((one) => one.serverCore) * 100)} %`,
      String(errorsOf(all, target)),
    ];
  });
  return [head, ...rows];
}

function memoryRows(all: readonly Measured[], targets: readonly string[]): string[][] {
  const rows = targets.map((target) => [
    target,
    middle(all, target, (one) => one.heldKib ?? Number.NaN).toFixed(1),
    String(errorsOf(all, target)),
  ]);
  return [['target', 'held KiB/stream', 'errors'], ...rows];
}

/** Medians of the ratios of one round, not ratios of medians: what drifts between rounds cancels. */
function ratioRows(throughput: readonly Measured[]): string[][] {
  const pairs = [
    ['bare', 'upstream'],
    ['node', 'bare'],
    ['one-core', 'bare'],
    ['web', 'bare'],
    ['node', 'web'],
  ] as const;
  const rows = pairs.flatMap(([one, other]) => {
    const ratios = (read: (measured: Measured) => number) =>
      throughput
        .filter(({ target }) => target === one)
        .flatMap((mine) => {
          const theirs = throughput.find(({ target, round }) => target === other && round === mine.round);
          return theirs ? [read(mine) / read(theirs)] : [];
        });
    const speeds = ratios((measured) => measured.perSecond);
    if (speeds.length === 0) return [];
    return [[`${one}/${other}`, median(speeds).toFixed(2), median(ratios(perCore)).toFixed(2)]];
  });
  return [['pair', 'requests/s', 'per core-second'], ...rows];
}

/** Requests a second of the server's own processor time: holds on a busy machine too. */
function perCore({ perSecond, serverCore }: Measured): number {
  return perSecond / serverCore;
}

function middle(all: readonly Measured[], target: string, read: (one: Measured) => number): number {
  return median(all.filter((one) => one.target === target).map(read));
}

function errorsOf(all: readonly Measured[], target: string): number {
  return all.reduce((sum, one) => sum + (one.target === target ? one.errors : 0), 0);
}

function added(own: number, floor: number): string {
  return Number.isNaN(floor) ? '–' : (own - floor).toFixed(2);
}

function table(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, at) => (at === 0 ? (row[at] ?? '').padEnd(width) : (row[at] ?? '').padStart(width))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (at === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  const [head = [], ...rest] = rows;
  return [line(head), rule, ...rest.map(line)].join('\n');
}
