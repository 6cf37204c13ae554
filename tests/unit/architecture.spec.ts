import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeOf, findChain, findCircles, listFiles, missing, readSources } from '#tests/support/imports';

const sources = readSources();
const all = [...sources.values()];

/** Who may import whom (docs/architecture.md): through any number of files, type-only imports apart. */
const rooms = [
  {
    name: 'the pure core',
    files: [
      /^lib\/(families|metering|relay|charts|schemas)\//,
      /^lib\/telemetry\/spans\//,
      /^lib\/routing\/plan\.ts$/,
      /^lib\/routing\/time-limits\.ts$/,
      /^lib\/admission\/decide\.ts$/,
      /^lib\/admission\/estimate\.ts$/,
      /^lib\/admission\/window\.ts$/,
      /^lib\/limits\/decide-permits\.ts$/,
      /^lib\/limits\/share\.ts$/,
      /^lib\/limits\/numbers\.ts$/,
      /^lib\/limits\/permits\//,
      /^lib\/upstream\/classify\.ts$/,
      /^lib\/settlement\/entry\.ts$/,
      /^lib\/settlement\/apply\.ts$/,
      /^lib\/money\.ts$/,
      /^lib\/errors\.ts$/,
      /^lib\/machine-fault\.ts$/,
    ],
    never: [
      /^(pg|undici|pino|ioredis|stripe|nodemailer|react|next)(\/|$)/,
      /^@(prisma|upstash|electric-sql)\//,
      /^node:(fs|net|http|https|os|child_process|cluster|sqlite|worker_threads|timers|process|perf_hooks|dns|tls)/,
      /^(generated|app|components)\//,
      /^lib\/(env|clock|data|console|billing|gateway|process|command)\b/,
    ],
  },
  {
    name: 'the hot shell',
    files: [
      /^lib\/(gateway|upstream)\//,
      /^lib\/snapshot\/read\.ts$/,
      /^lib\/admission\/coordinator\.ts$/,
      /^lib\/limits\/shared-limits\.ts$/,
      /^lib\/settlement\/journal\.ts$/,
    ],
    never: [
      /^(pg|next|react)(\/|$)/,
      /^@(prisma|electric-sql)\//,
      /^(generated|app|components)\//,
      /^lib\/(env|data|console|billing|command)\b/,
    ],
  },
  {
    name: 'the cold shell',
    files: [
      /^lib\/(alerts|billing|catalogue|console|control|data|demo|jobs|mail|management|metrics|resources|telemetry|throttle)\//,
      /^lib\/settlement\/drain\.ts$/,
      /^lib\/settlement\/recover\.ts$/,
      /^lib\/snapshot\/changes\.ts$/,
      /^lib\/snapshot\/load\.ts$/,
      /^lib\/admission\/lease\.ts$/,
      /^lib\/limits\/fleet\.ts$/,
      /^lib\/limits\/open\.ts$/,
      /^lib\/limits\/start\.ts$/,
      /^lib\/limits\/store\//,
    ],
    never: [/^(app|components)\//],
  },
  {
    name: 'the programs',
    files: [/^lib\/(command|process)\//],
    never: [/^(app|components)\//, /^react(\/|$)/],
  },
  {
    name: 'the simulated provider',
    files: [/^lib\/sandbox\//],
    never: [
      /^(pg|next|react)(\/|$)/,
      /^@(prisma|electric-sql)\//,
      /^(generated|app|components)\//,
      /^lib\/(admission|billing|command|console|control|data|gateway|jobs|settlement)\b/,
    ],
  },
  {
    name: 'the components',
    files: [/^components\//],
    never: [
      /^(pg|undici)$/,
      /^@prisma\//,
      /^generated\//,
      /^lib\/(env|data|gateway|process|control|management)\b/,
    ],
  },
];

/** Next's own request and response types belong to the web lane. */
const exempt = (path: string, forbidden: string) =>
  path === 'lib/gateway/web-lane.ts' && /^next\//.test(forbidden);

describe('who may import whom', () => {
  it.each(rooms)('$name keeps to its neighbours', ({ files, never }) => {
    const inside = all.filter(({ path }) => files.some((pattern) => pattern.test(path)));
    expect(inside.length).toBeGreaterThan(0);
    const chains = inside.flatMap(({ path }) => {
      const forbidden = (name: string) => !exempt(path, name) && never.some((pattern) => pattern.test(name));
      return findChain(sources, path, forbidden)?.join(' → ') ?? [];
    });
    expect(chains).toEqual([]);
  });

  it.each(rooms)('$name is where the rule looks for it', ({ files }) => {
    const dead = files.filter((pattern) => !all.some(({ path }) => pattern.test(path)));
    expect(dead.map(String)).toEqual([]);
  });

  it('the web lane of a path imports the gateway and nothing else of ours', () => {
    const routes = all.filter(({ path }) => /^app\/v1\w*\//.test(path));
    expect(routes.length).toBeGreaterThan(0);
    const others = routes.flatMap(({ path, imports }) =>
      imports.filter((name) => !/^lib\/gateway\//.test(name)).map((name) => `${path} → ${name}`),
    );
    expect(others).toEqual([]);
  });

  it('operations know none of their adapters', () => {
    const inside = all.filter(({ path }) => path.startsWith('lib/control/'));
    const adapter = (name: string) =>
      /^lib\/(command|console|management|process|gateway)\b|^next\b/.test(name);
    const chains = inside.flatMap(({ path }) => findChain(sources, path, adapter)?.join(' → ') ?? []);
    expect(chains).toEqual([]);
  });

  it('every import of ours names a file that is there', () => {
    const broken = all.flatMap(({ path, imports }) =>
      imports.filter((name) => name.startsWith(missing)).map((name) => `${path} → ${name}`),
    );
    expect(broken).toEqual([]);
  });

  it('no files of lib lead back to themselves, not by types either', () => {
    const ours = new Map([...sources].filter(([path]) => path.startsWith('lib/')));
    expect(findCircles(ours)).toEqual([]);
  });

  it('every folder of lib is in a room', () => {
    const folders = new Set(all.flatMap(({ path }) => /^lib\/(\w[\w-]*)\//.exec(path)?.[1] ?? []));
    const homeless = [...folders].filter(
      (folder) =>
        !all.some(
          ({ path }) =>
            path.startsWith(`lib/${folder}/`) &&
            rooms.some(({ files }) => files.some((one) => one.test(path))),
        ),
    );
    expect(homeless).toEqual([]);
  });

  it('a chain is found where there is one', () => {
    const chain = findChain(sources, 'server.ts', (name) => name === 'pg');
    expect(chain?.slice(0, 2)).toEqual(['server.ts', 'lib/process/explain.ts']);
    expect(chain?.at(-1)).toBe('pg');
  });
});

describe('the tables of the control plane (contract: control-plane/scope, control-plane/one-transaction)', () => {
  const keepers =
    /^lib\/(admission|alerts|billing|catalogue|control|data|demo|jobs|limits|mail|metrics|process|resources|settlement|snapshot|telemetry)\//;
  const access =
    /\bprisma\b|\$(transaction|queryRaw|executeRaw)|\bpool\.query\b|\b(FROM|INTO|UPDATE) "?[a-z_]+\b/;

  it('are touched by no adapter, page or part of a call, but by the operations that it runs', () => {
    const found = all.filter(
      ({ path, text }) =>
        /^(lib|app|components)\//.test(path) && !keepers.test(path) && access.test(codeOf(text)),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  it('are written in one transaction, which the runner opens', () => {
    const opening = /\$transaction\b|\bBEGIN\b/;
    const found = all.filter(
      ({ path, text }) => path.startsWith('lib/control/') && opening.test(codeOf(text)),
    );
    expect(found.map(({ path }) => path)).toEqual(['lib/control/store.ts']);
  });

  it('are read within a scope that the runner made', () => {
    const making = /\bnew (WorkspaceScope|EveryWorkspace)\b/;
    const found = all.filter(({ path, text }) => making.test(codeOf(text)) && !path.startsWith('tests/'));
    expect(found.map(({ path }) => path)).toEqual(['lib/control/reach.ts']);
  });
});

describe('time, chance and the environment are arguments', () => {
  it('in the pure core', () => {
    const impure =
      /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|process\.\w+|randomUUID|randomBytes|getRandomValues|setTimeout|setInterval)\b/;
    const [core] = rooms;
    const found = all
      .filter(({ path }) => core?.files.some((pattern) => pattern.test(path)))
      .flatMap(({ path, text }) => impure.exec(codeOf(text))?.[0].concat(` in ${path}`) ?? []);
    expect(found).toEqual([]);
  });

  it('and only lib/env.ts reads process.env', () => {
    const allowed = /^(lib\/env\.ts$|scripts\/|tests\/|bench\/|[\w-]+\.config\.ts$)/;
    // Which of its runtimes Next builds a file for, is a constant of that build.
    const reads = /process\.env\b(?!\.NEXT_RUNTIME\b)/;
    const found = all.filter(({ path, text }) => !allowed.test(path) && reads.test(codeOf(text)));
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});

describe('the shape of the code', () => {
  it('no name that says nothing', () => {
    const empty = /^(utils?|helpers?|common|misc|types|services?|managers?)(\.|$)/;
    const found = listFiles('').filter((path) => path.split('/').some((part) => empty.test(part)));
    expect(found).toEqual([]);
  });

  it('no switched-off checks', () => {
    const self = basename(import.meta.filename);
    const off = /@ts-(ignore|nocheck|expect-error)|biome-ignore|\.only\(/;
    const found = all.filter(({ path, text }) => basename(path) !== self && off.test(text));
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});
