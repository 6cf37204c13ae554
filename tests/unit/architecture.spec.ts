import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeOf, findChain, findCircles, listFiles, missing, readSources } from '#tests/support/imports';

const sources = readSources();
const all = [...sources.values()];

/** From the ground up: each district stands on those before it (docs/architecture.md). */
const districts = ['core', 'platform', 'gateway', 'control', 'console', 'programs'];

const districtOf = (path: string) => districts.indexOf(/^lib\/(\w+)\//.exec(path)?.[1] ?? '');
/** A folder of a district, or a file beside its folders; the pure part of a room is a room of its own. */
const roomOf = (path: string) =>
  /^lib\/\w+\/[\w-]+\/pure(?=\/)/.exec(path)?.[0] ?? path.split('/').slice(0, 3).join('/');

/** What folders never load, through any number of files, type-only imports apart. Patterns name folders, never files. */
const walls = [
  {
    name: 'the pure core',
    folders: [/^lib\/core\//, /^lib\/gateway\/[\w-]+\/pure\//],
    never: [
      /^(pg|undici|pino|ioredis|stripe|nodemailer|react|next)(\/|$)/,
      /^@(prisma|upstash|electric-sql)\//,
      /^node:(fs|net|http|https|os|child_process|cluster|sqlite|worker_threads|timers|process|perf_hooks|dns|tls)/,
      /^(generated|app|components|tools)\//,
      /^lib\/(platform|control|console|programs)\//,
      /^lib\/gateway\/(?![\w-]+\/pure\/)/,
    ],
  },
  {
    name: 'the path of a call',
    folders: [
      /^lib\/gateway\/(clouds|flow|metrics|routing|sockets|upstream)\//,
      /^lib\/gateway\/(admission|resources|snapshot)\/(?!database\/)/,
      /^lib\/gateway\/limits\/(?!store\/)/,
      /^lib\/gateway\/settlement\/(journal|record)\//,
    ],
    never: [
      /^(pg|next|react)(\/|$)/,
      /^@(prisma|electric-sql)\//,
      /^(generated|app|components)\//,
      /^lib\/platform\/env\//,
      /^lib\/gateway\/[\w-]+\/(database|store)\//,
    ],
  },
  {
    name: 'what the console stands on',
    folders: [/^lib\/(platform|gateway|control|programs)\//],
    never: [/^(app|components)\//],
  },
  {
    name: 'everything below the programs',
    folders: [/^lib\/(core|platform|gateway|control|console)\//, /^(app|components)\//],
    never: [/^tools\//],
  },
  {
    name: 'the simulated provider',
    folders: [/^tools\/sandbox\//],
    never: [
      /^(pg|next|react)(\/|$)/,
      /^@(prisma|electric-sql)\//,
      /^(generated|app|components)\//,
      /^lib\/(gateway|control|console|programs)\//,
      /^lib\/platform\/data\//,
    ],
  },
  {
    name: 'the components',
    folders: [/^components\//],
    never: [
      /^(pg|undici)$/,
      /^@prisma\//,
      /^generated\//,
      /^lib\/(platform|programs)\//,
      /^lib\/control\/(?!catalogue\/)/,
      /^lib\/gateway\/(?!\w+\/pure\/)/,
    ],
  },
];

/** Next's own request and response types belong to the web lane. */
const exempt = (path: string, forbidden: string) =>
  path === 'lib/gateway/flow/web-lane.ts' && /^next\//.test(forbidden);

describe('who may import whom', () => {
  it('no district of lib imports from one above it, not by types either', () => {
    const upwards = all.flatMap(({ path, mentions }) =>
      mentions
        .filter((name) => districtOf(path) >= 0 && districtOf(name) > districtOf(path))
        .map((name) => `${path} → ${name}`),
    );
    expect(upwards).toEqual([]);
  });

  it('every file of lib is in a district', () => {
    const homeless = all.filter(({ path }) => path.startsWith('lib/') && districtOf(path) < 0);
    expect(homeless.map(({ path }) => path)).toEqual([]);
  });

  it('no two rooms of a district load each other, not through others either', () => {
    const rooms = new Map<string, { path: string; text: string; imports: string[]; mentions: string[] }>();
    for (const { path, imports } of all.filter(({ path }) => districtOf(path) >= 0)) {
      const name = roomOf(path);
      const room = rooms.get(name) ?? { path: name, text: '', imports: [], mentions: [] };
      rooms.set(name, room);
      const others = imports.filter((one) => districtOf(one) >= 0).map(roomOf);
      room.mentions.push(...others.filter((one) => one !== name));
    }
    expect(rooms.size).toBeGreaterThan(30);
    expect(findCircles(rooms)).toEqual([]);
  });

  it.each(walls)('$name keeps to its side of the wall', ({ folders, never }) => {
    const inside = all.filter(({ path }) => folders.some((pattern) => pattern.test(path)));
    const chains = inside.flatMap(({ path }) => {
      const forbidden = (name: string) => !exempt(path, name) && never.some((pattern) => pattern.test(name));
      return findChain(sources, path, forbidden)?.join(' → ') ?? [];
    });
    expect(chains).toEqual([]);
  });

  it.each(walls)(
    'every pattern of the wall around $name matches a file or a package',
    ({ folders, never }) => {
      const named = new Set(all.flatMap(({ path, imports }) => [path, ...imports]));
      const dead = [...folders, ...never].filter((pattern) => ![...named].some((name) => pattern.test(name)));
      expect(dead.map(String)).toEqual([]);
    },
  );

  it('the web lane of a path imports the gateway and nothing else of ours', () => {
    const routes = all.filter(({ path }) => /^app\/v1\w*\//.test(path));
    expect(routes.length).toBeGreaterThan(0);
    const others = routes.flatMap(({ path, imports }) =>
      imports.filter((name) => !/^lib\/gateway\/flow\//.test(name)).map((name) => `${path} → ${name}`),
    );
    expect(others).toEqual([]);
  });

  it('operations know none of their adapters', () => {
    const inside = all.filter(({ path }) => path.startsWith('lib/control/operations/'));
    const adapter = (name: string) =>
      /^lib\/(console|programs|control\/management|gateway\/flow)\/|^next\b/.test(name);
    const chains = inside.flatMap(({ path }) => findChain(sources, path, adapter)?.join(' → ') ?? []);
    expect(chains).toEqual([]);
  });

  it('every import of ours names a file that is there', () => {
    const broken = all.flatMap(({ path, imports }) =>
      imports.filter((name) => name.startsWith(missing)).map((name) => `${path} → ${name}`),
    );
    expect(broken).toEqual([]);
  });

  it('no files of lib, tools or components lead back to themselves, not by types either', () => {
    const ours = new Map([...sources].filter(([path]) => /^(lib|tools|components)\//.test(path)));
    expect(findCircles(ours)).toEqual([]);
  });

  it('a chain is found where there is one', () => {
    const chain = findChain(sources, 'server.ts', (name) => name === 'pg');
    expect(chain?.slice(0, 2)).toEqual(['server.ts', 'lib/programs/process/workers/primary.ts']);
    expect(chain?.at(-1)).toBe('pg');
  });
});

describe('the tables of the control plane (contract: control-plane/scope, control-plane/one-transaction)', () => {
  const keepers =
    /^lib\/(platform\/data|gateway\/(admission|content|jobs|ledger|limits|repeats|resources|settlement|snapshot)|control\/(?!management)[\w-]+|programs\/(process|telemetry))\//;
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
      ({ path, text }) => path.startsWith('lib/control/operations/') && opening.test(codeOf(text)),
    );
    expect(found.map(({ path }) => path)).toEqual(['lib/control/operations/store.ts']);
  });

  it('are read within a scope that the runner made', () => {
    const making = /\bnew (WorkspaceScope|EveryWorkspace)\b/;
    const found = all.filter(({ path, text }) => making.test(codeOf(text)) && !path.startsWith('tests/'));
    expect(found.map(({ path }) => path)).toEqual(['lib/control/operations/reach.ts']);
  });
});

describe('time, chance and the environment are arguments', () => {
  it('in the pure core', () => {
    const impure =
      /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|process\.\w+|randomUUID|randomBytes|getRandomValues|setTimeout|setInterval)\b/;
    const [core] = walls;
    const found = all
      .filter(({ path }) => core?.folders.some((pattern) => pattern.test(path)))
      .flatMap(({ path, text }) => impure.exec(codeOf(text))?.[0].concat(` in ${path}`) ?? []);
    expect(found).toEqual([]);
  });

  it('and only lib/platform/env/env.ts reads process.env', () => {
    const allowed = /^(lib\/platform\/env\/|scripts\/|tests\/|tools\/(bench|mutants)\/|[\w-]+\.config\.ts$)/;
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

  it('every path that a page of the documentation or a comment names is there', () => {
    // Words in capitals stand for any name: `lib/core/families/NAME.ts`.
    const mention =
      /(?<![\w/.*@-])(?:\.\.?\/)*((?:lib|app|components|tools|tests|scripts|prisma|deploy|docs)\/(?:[\w.-]+\/)*[\w.-]*\w)(?![\w/[(*{…-])/g;
    const pages = listFiles('').filter(
      (path) => /\.(md|ts|tsx|mjs)$/.test(path) && !/^(CHANGELOG|tests\/|prisma\.config)/.test(path),
    );
    const gone = pages.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(mention)]
        .map((match) => match[1] ?? '')
        .filter((name) => !/\/[A-Z]{2,}\b(?!\.md)/.test(name))
        .filter((name) => !['', '.ts', '.tsx', '.mjs'].some((ending) => existsSync(name + ending)))
        .map((name) => `${path}: ${name}`),
    );
    expect(pages.length).toBeGreaterThan(1_000);
    expect(gone).toEqual([]);
  });

  it('no switched-off checks', () => {
    const self = basename(import.meta.filename);
    const off = /@ts-(ignore|nocheck|expect-error)|biome-ignore|\.only\(/;
    const found = all.filter(({ path, text }) => basename(path) !== self && off.test(text));
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});
