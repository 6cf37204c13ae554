// `npm test`: everything (contract: operations/test). `npm test -- <word>…`: parts by their name, or the spec
// files whose path contains a word. `--database embedded` runs the browser tests on the embedded database,
// `server` on a PostgreSQL server; by default they run on a server, and the path from sign-up to the books on
// both.
// The last line is "N passed, N failed", plus the skipped ones if there are any.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, root } from '../bootstrap.mjs';
import { provideTools } from '../tools.mjs';
import {
  checkDeadCode,
  checkStyle,
  checkTypes,
  runBrowserTests,
  runBrowserTestsOnBoth,
  runSpecs,
  sumUp,
} from './steps.mjs';

/** @type {{ database?: 'embedded' | 'server' }} as requested. */
const given = {};
/** Settles when the console is built; parts that start the gateway wait for it. */
let built = Promise.resolve();
/** Each part: what runs it, the folder of its spec files, and whether it runs beside `unit` and `gateway`. */
const parts = {
  unit: { step: (node, words) => runSpecs(node, ['unit'], words), folder: 'tests/unit/' },
  types: { step: checkTypes, beside: true },
  lint: { step: checkStyle, beside: true },
  dead: { step: checkDeadCode, beside: true },
  gateway: {
    step: async (node, words) => {
      await built;
      return runSpecs(node, ['gateway'], words);
    },
    folder: 'tests/gateway/',
  },
  fleet: {
    step: (node, words, output) => runSpecs(node, ['fleet'], words, output),
    folder: 'tests/fleet/',
    // It mostly waits.
    beside: true,
  },
  browser: {
    step: (node, words, output) =>
      words.length === 0 && given.database === undefined
        ? runBrowserTestsOnBoth(node, output)
        : runBrowserTests(node, words, output, given.database),
    folder: 'tests/console/',
    // While it waits for pages, the gateway's specs use the processor.
    beside: true,
  },
};
/** Parts that start the gateway: they need the console's build, and programs besides the packages. */
const whole = ['gateway', 'fleet', 'browser'];

/** The parts to run, each with the words that the paths of its files must contain (none: all). */
function wanted(words) {
  const all = Object.entries(parts).map(([name, part]) => ({ name, ...part, words: [] }));
  if (words.length === 0) return all;
  const named = words.filter((word) => word in parts);
  const others = words.filter((word) => !(word in parts));
  const files = readdirSync(join(root, 'tests'), { recursive: true })
    .filter((file) => file.endsWith('.spec.ts'))
    .map((file) => `tests/${file}`);
  for (const word of others) {
    if (!files.some((file) => file.includes(word))) {
      throw new Error(`No spec file has "${word}" in its path. Parts: ${Object.keys(parts).join(', ')}.`);
    }
  }
  return all.flatMap((part) => {
    if (named.includes(part.name)) return [part];
    const own = part.folder ? files.filter((file) => file.startsWith(part.folder)) : [];
    const meant = others.filter((word) => own.some((file) => file.includes(word)));
    return meant.length > 0 ? [{ ...part, words: meant }] : [];
  });
}

/** Unit tests need no console: it is built at the same time, and types are checked after that. */
const build = {
  name: 'build',
  beside: true,
  step: async () => {
    built = prepare({ build: true, tests: true });
    await built;
    return { passed: 0, failed: 0, skipped: 0 };
  },
};

/** The parts in their order, in two columns; in one if nothing is left for the other. */
function columnsOf(node, steps) {
  const parts = steps.map(({ name, words, step, beside = false }) => ({
    beside: beside && steps.some((other) => !other.beside),
    part: [name, (output) => step(node, words, output)],
  }));
  const column = (which) => parts.filter(({ beside }) => beside === which).map(({ part }) => part);
  return [column(false), column(true)];
}

function giveUp(lines) {
  console.error(lines.join('\n'));
  console.log(`\n0 passed, ${lines.length} failed`);
  process.exitCode = 1;
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { database: { type: 'string' } },
  });
  if (!['embedded', 'server', undefined].includes(values.database)) {
    throw new Error(`--database must be embedded or server, not "${values.database}".`);
  }
  given.database = values.database;
  const steps = wanted(positionals);
  const starts = steps.some(({ name }) => whole.includes(name));
  const missing = starts ? provideTools() : [];
  if (missing.length > 0) giveUp(missing);
  else {
    const later = starts && steps[0].name === 'unit';
    const node = await prepare({ build: starts && !later, tests: true });
    if (later) steps.splice(1, 0, build);
    await sumUp(...columnsOf(node, steps), performance.now());
  }
} catch (error) {
  giveUp([error.message]);
}
