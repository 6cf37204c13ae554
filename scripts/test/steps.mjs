import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from '../bootstrap.mjs';
import { run } from '../run.mjs';
import { directoryForTests } from './directory.mjs';

/**
 * The result of a part of the tests. `notRun` has the titles of skipped tests.
 * @typedef {{ title: string, message: string }} Failure
 * @typedef {{ passed: number, failed: number, skipped: number, notRun?: string[], failures?: Failure[],
 *   files?: { path: string, ms: number }[] }} Count
 */

/** Recorded answers of real providers, which are not part of the project. */
const recordedTraffic = '../shared/fixtures';

const tool = (path) => join(root, 'node_modules', path);
/** With a compile cache, a gateway starts in half the time. */
const settings = {
  NEXT_TELEMETRY_DISABLED: '1',
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? tool('.cache/compiled'),
  TMPDIR: directoryForTests(),
};
const nothing = { passed: 0, failed: 0, skipped: 0 };

/** A tool that passes or fails counts as one test. */
async function verdict(node, args) {
  const ok = await succeeds(node, args);
  return { ...nothing, passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

export const checkTypes = (node) => verdict(node, [tool('typescript/bin/tsc'), '--noEmit']);
export const checkStyle = (node) =>
  verdict(node, [tool('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.']);
export const checkDeadCode = (node) => verdict(node, [tool('knip/bin/knip.js')]);

/**
 * Projects of vitest.config.ts.
 * @param {string[]} words only files whose path contains one of them; none: all.
 * @param {'show' | 'atEnd'} output when the lines of the run are shown.
 * @returns {Promise<Count>} an error outside every test counts as a failure.
 */
export async function runSpecs(node, projects, words = [], output = 'show') {
  return counted(async (report) => {
    const flags = ['--passWithNoTests', '--reporter=default', '--reporter=./tests/support/run/report.mjs'];
    const ok = await succeeds(
      node,
      [tool('vitest/vitest.mjs'), 'run', ...projects.map((name) => `--project=${name}`), ...flags, ...words],
      { ...process.env, GATEWAY_TEST_REPORT: report },
      output,
    );
    return whole(ok, readReport(report) ?? nothing);
  });
}

/**
 * The console's tests in a real browser.
 * @param {string[]} words only files whose path contains one of them; none: all.
 * @param {'show' | 'atEnd'} output when the lines of the run are shown.
 * @param {'embedded' | 'server'} database of the gateway.
 */
export async function runBrowserTests(node, words = [], output = 'show', database = 'server') {
  return counted(async (report) => {
    const env = {
      ...process.env,
      CONSOLE_DATABASE: database,
      PLAYWRIGHT_JSON_OUTPUT_NAME: report,
      PLAYWRIGHT_JSON_OUTPUT_FILE: report,
    };
    // A run begins by emptying its folder.
    const results = `--output=${join('test-results', database)}`;
    // The embedded database has one session: parallel tests would wait for it until their forms give up.
    const workers = database === 'embedded' ? ['--workers=1'] : [];
    const options = ['--reporter=list,json', results, ...workers];
    const program = [tool('playwright/cli.js'), 'test', ...options, ...words];
    const ok = await succeeds(node, program, env, output);
    const found = readReport(report);
    return whole(ok, {
      passed: (found?.stats.expected ?? 0) + (found?.stats.flaky ?? 0),
      failed: found?.stats.unexpected ?? 0,
      skipped: found?.stats.skipped ?? 0,
      failures: (found?.suites ?? []).flatMap(failuresOf),
      files: (found?.suites ?? []).map((suite) => ({ path: `tests/console/${suite.file}`, ms: msOf(suite) })),
    });
  });
}

/**
 * Runs all of the console's tests on a PostgreSQL server and, at the same time, the path from sign-up to the
 * books on the embedded database.
 */
export async function runBrowserTestsOnBoth(node, output) {
  const counts = await Promise.all([
    runBrowserTests(node, [], output),
    runBrowserTests(node, ['console/account/account'], 'atEnd', 'embedded'),
  ]);
  const sum = (read) => counts.reduce((all, count) => all + read(count), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
    failures: counts.flatMap(({ failures }) => failures ?? []),
    files: counts.flatMap(({ files }) => files ?? []),
  };
}

/** How long the tests of a Playwright suite took, ms. */
function msOf({ suites = [], specs = [] }) {
  const results = specs.flatMap(({ tests }) => tests.flatMap((test) => test.results));
  const own = results.reduce((sum, { duration }) => sum + duration, 0);
  return suites.reduce((sum, suite) => sum + msOf(suite), own);
}

/** @returns {Failure[]} the failed tests of a Playwright suite. */
function failuresOf({ suites = [], specs = [] }) {
  const own = specs
    .filter(({ ok }) => !ok)
    .map(({ file, title, tests }) => {
      const errors = tests.flatMap((test) => test.results.flatMap(({ error }) => (error ? [error] : [])));
      return { title: `tests/console/${file} > ${title}`, message: errors[0]?.message ?? 'no message' };
    });
  return [...own, ...suites.flatMap(failuresOf)];
}

/** A run that fails without a failing test (no browser, a broken set-up) counts as one failure. */
function whole(ok, count) {
  return ok || count.failed > 0 ? count : { ...count, failed: 1 };
}

async function counted(measure) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-report-'));
  try {
    return await measure(join(folder, 'report.json'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

async function succeeds(node, args, env = process.env, output = 'show') {
  try {
    await run(node, args, { cwd: root, env: { ...env, ...settings }, output });
    return true;
  } catch (error) {
    console.log(error.message);
    return false;
  }
}

/**
 * Runs two columns at the same time, and the parts of each one after another. Prints where the time went, and the totals
 * as the last line.
 * @typedef {readonly [name: string, step: (output: 'show' | 'atEnd') => Promise<Count>]} Part
 * @param {readonly Part[]} shown their output is shown as it comes.
 * @param {readonly Part[]} beside their output is shown when they have ended.
 * @param {number} preparedMs how long preparing took.
 */
export async function sumUp(shown, beside, preparedMs) {
  const sum = { ...nothing };
  const times = [['preparing', preparedMs]];
  const files = [];
  const failures = [];
  const notRun = new Set();
  const startMs = performance.now();
  const runColumn = async (parts, output) => {
    for (const [name, step] of parts) {
      const title = output === 'show' ? name : `${name} (beside)`;
      console.log(`\n— ${title}`);
      const beganMs = performance.now();
      const count = await step(output);
      times.push([title, performance.now() - beganMs]);
      files.push(...(count.files ?? []));
      failures.push(...(count.failures ?? []));
      for (const test of count.notRun ?? []) notRun.add(test);
      for (const key of Object.keys(sum)) sum[key] += count[key];
    }
  };
  await Promise.all([runColumn(shown, 'show'), runColumn(beside, 'atEnd')]);
  printTimes(times, files, preparedMs + performance.now() - startMs);
  if (!existsSync(join(root, recordedTraffic))) {
    console.log(`\nNot run: what replays recorded traffic, because ${recordedTraffic} is not here.`);
  } else for (const title of notRun) console.log(`Skipped: ${title}`);
  printFailures(failures);
  const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : '';
  console.log(`\n${sum.passed} passed, ${sum.failed} failed${skipped}`);
  process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0;
}

/** The failed tests again, near the last line: often only the end of a long log is kept. */
function printFailures(failures) {
  if (failures.length > 0) console.log('\nFailed');
  for (const { title, message } of failures) {
    console.log(
      `  ${title}\n    ${stripVTControlCharacters(message).slice(0, 1500).replaceAll('\n', '\n    ')}`,
    );
  }
}

function printTimes(times, files, togetherMs) {
  const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`.padStart(9);
  if (files.length > 1) {
    console.log('\nThe slowest files');
    const slowest = files.sort((one, other) => other.ms - one.ms).slice(0, 10);
    for (const { path, ms } of slowest) console.log(`${seconds(ms)}  ${path}`);
  }
  console.log('\nWhere the time went');
  for (const [name, ms] of times) console.log(`${seconds(ms)}  ${name}`);
  console.log(`${seconds(togetherMs)}  together`);
}
