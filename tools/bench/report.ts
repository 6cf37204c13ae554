import type { Measured } from './plan.ts';
import { median } from './statistics.ts';

export type Results = Readonly<Record<string, readonly Measured[]>>;

/** The median of a figure of one target. */
type Of = (read: (one: Measured) => number) => number;
/** A figure of one target in each round. */
type Each = (read: (one: Measured) => number) => readonly number[];
/** A column: its head, and the cell of a target. `floor` gives the figures of the upstream only. */
type Column = readonly [head: string, cell: (of: Of, floor: Of, each: Each) => string];

const first = ({ latencyMs }: Measured) => latencyMs.p50;
const transit = ({ transitMs }: Measured) => transitMs.p50;
const serverCore: Column = ['server core', (of) => `${Math.round(of((one) => one.serverCore) * 100)}%`];
const count = (value: number) => Math.round(value).toLocaleString('en');

const callUs: Column = [
  'processor µs/call',
  (_of, _floor, each) => range(each(({ answerMs }) => answerMs * 1000)),
];
const eventUs: Column = [
  'processor µs/event',
  (_of, _floor, each) => range(each((one) => one.eventUs ?? Number.NaN)),
];

/** The median, and the lowest and highest round. */
function range(values: readonly number[]): string {
  const [middle, low, high] = [median(values), Math.min(...values), Math.max(...values)].map(count);
  return `${middle} (${low}–${high})`;
}

const requestColumns: readonly Column[] = [
  ['requests/s', (of) => count(of((one) => one.perSecond))],
  ['p50 ms', (of) => of(first).toFixed(2)],
  ['p99 ms', (of) => of((one) => one.latencyMs.p99).toFixed(2)],
  ['added p50 ms', (of, floor) => added(of(first), floor(first))],
  serverCore,
  ['per core-second', (of) => count(of(perCore))],
  callUs,
];
const streamColumns: readonly Column[] = [
  ['first byte p50', (of) => of(first).toFixed(2)],
  ['p99', (of) => of((one) => one.latencyMs.p99).toFixed(2)],
  ['added p50', (of, floor) => added(of(first), floor(first))],
  ['event transit p50', (of) => of(transit).toFixed(2)],
  ['p99', (of) => of((one) => one.transitMs.p99).toFixed(2)],
  ['added p50', (of, floor) => added(of(transit), floor(transit))],
  ['gap p50', (of) => of((one) => one.gapMs.p50).toFixed(1)],
  ['p99', (of) => of((one) => one.gapMs.p99).toFixed(1)],
  ['KiB/stream', (of) => of((one) => one.streamKib ?? 0).toFixed(1)],
  serverCore,
  eventUs,
];
const bodyColumns: readonly Column[] = [callUs, ...requestColumns.slice(0, 3)];
const firstWordColumns: readonly Column[] = [
  ['first byte p50', (of) => of(first).toFixed(2)],
  ['p99', (of) => of(({ latencyMs }) => latencyMs.p99).toFixed(2)],
  ['added p50', (of, floor) => added(of(first), floor(first))],
  [
    'added p99',
    (of, floor) =>
      added(
        of(({ latencyMs }) => latencyMs.p99),
        floor(({ latencyMs }) => latencyMs.p99),
      ),
  ],
  serverCore,
];
const memoryColumns: readonly Column[] = [
  ['held KiB/stream', (of) => of((one) => one.heldKib ?? Number.NaN).toFixed(1)],
];

/** Cases whose names start with these have columns of their own; the others have `requestColumns`. */
const columnsOf: Readonly<Record<string, readonly Column[]>> = {
  streams: streamColumns,
  memory: memoryColumns,
  bodies: bodyColumns,
  'first-word': firstWordColumns,
};

/** Medians over the rounds, one row per target, as Markdown tables. */
export function report(results: Results): string {
  const parts = Object.entries(results).map(([name, all]) => {
    const own = Object.keys(columnsOf).find((start) => name.startsWith(start));
    return `### ${name}\n\n${table(rowsOf(all, (own && columnsOf[own]) || requestColumns))}`;
  });
  const throughput = results.throughput ?? [];
  const bodies = Object.entries(results).filter(([name]) => name.startsWith('bodies'));
  if (throughput.length > 0) parts.push(`### ratios\n\n${table(ratioRows(throughput))}`);
  if (bodies.length > 0) {
    parts.push(`### processor time of a call, as a ratio\n\n${table(bodyRatioRows(bodies))}`);
  }
  return [...parts, ...poolPart(throughput)].join('\n\n');
}

/** Whether a pool of ten costs more than what a pool of one varies by from round to round. */
function poolPart(throughput: readonly Measured[]): string[] {
  const figures = (target: string) => throughput.filter((one) => one.target === target).map(perCore);
  const [one, ten] = [figures('node'), figures('pool')];
  if (one.length === 0 || ten.length === 0) return [];
  const row = (name: string, of: readonly number[]) => [
    name,
    ...[median(of), Math.min(...of), Math.max(...of)].map(count),
  ];
  const within = median(ten) >= Math.min(...one);
  const rows = [
    ['per core-second', 'median', 'lowest', 'highest'],
    row('one credential', one),
    row('ten', ten),
  ];
  return [`### pool\n\n${table(rows)}\n\nTen are ${within ? 'within' : 'below'} the spread of one.`];
}

function rowsOf(all: readonly Measured[], columns: readonly Column[]): string[][] {
  const ofTarget =
    (target: string): Of =>
    (read) =>
      median(all.filter((one) => one.target === target).map(read));
  const rows = [...new Set(all.map((one) => one.target))].map((target) => {
    const errors = all.reduce((sum, one) => sum + (one.target === target ? one.errors : 0), 0);
    const each: Each = (read) => all.filter((one) => one.target === target).map(read);
    const cells = columns.map(([, cell]) => cell(ofTarget(target), ofTarget('upstream'), each));
    return [target, ...cells, String(errors)];
  });
  return [['target', ...columns.map(([head]) => head), 'errors'], ...rows];
}

const pairs = [
  ['bare', 'upstream'],
  ['node', 'bare'],
  ['one-core', 'bare'],
  ['web', 'bare'],
  ['node', 'web'],
  ['pool', 'node'],
] as const;

/** Medians of the ratios within one round, not ratios of medians: drift between rounds cancels out. */
function ratioRows(throughput: readonly Measured[]): string[][] {
  const rows = pairs.flatMap(([one, other]) => {
    const speed = ratio(throughput, one, other, (measured) => measured.perSecond);
    return speed === null
      ? []
      : [[`${one}/${other}`, speed.toFixed(2), ratio(throughput, one, other, perCore)?.toFixed(2) ?? '']];
  });
  return [['pair', 'requests/s', 'per core-second'], ...rows];
}

function bodyRatioRows(bodies: readonly (readonly [name: string, all: readonly Measured[]])[]): string[][] {
  const shown = pairs
    .slice(1)
    .filter(([one, other]) => bodies.some(([, all]) => ratio(all, one, other, (a) => a.answerMs) !== null));
  const rows = bodies.map(([name, all]) => [
    name,
    ...shown.map(([one, other]) => ratio(all, one, other, (a) => a.answerMs)?.toFixed(2) ?? '–'),
  ]);
  return [['case', ...shown.map(([one, other]) => `${one}/${other}`)], ...rows];
}

/** The median over the rounds; null: one of the two was not measured. */
function ratio(
  all: readonly Measured[],
  one: string,
  other: string,
  read: (measured: Measured) => number,
): number | null {
  const ratios = all
    .filter(({ target }) => target === one)
    .flatMap((mine) => {
      const theirs = all.find(({ target, round }) => target === other && round === mine.round);
      return theirs ? [read(mine) / read(theirs)] : [];
    });
  return ratios.length === 0 ? null : median(ratios);
}

/** Requests per second of the server's own processor time: comparable even on a busy machine. */
function perCore({ perSecond, serverCore }: Measured): number {
  return perSecond / serverCore;
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
