import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';
import { run } from './run.mjs';

/** @typedef {{ passed: number, failed: number, skipped: number }} Count */

const tool = (path) => join(root, 'node_modules', path);

/** A tool that says yes or no: one test. */
async function verdict(node, name, args) {
  console.log(`\n— ${name}`);
  const ok = await succeeds(node, args);
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
}

export const checkTypes = (node) => verdict(node, 'types', [tool('typescript/bin/tsc'), '--noEmit']);
export const checkStyle = (node) =>
  verdict(node, 'lint and format', [tool('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.']);
export const checkDeadCode = (node) => verdict(node, 'dead code', [tool('knip/bin/knip.js')]);

/**
 * One project of vitest.config.ts.
 * @returns {Promise<Count>} a spec file that could not be read, or an error outside every test, counts as one failure.
 */
export async function runSpecs(node, project) {
  console.log(`\n— ${project} tests`);
  return counted(async (report) => {
    const flags = [`--project=${project}`, '--passWithNoTests', '--reporter=default', '--reporter=json'];
    const ok = await succeeds(node, [
      tool('vitest/vitest.mjs'),
      'run',
      ...flags,
      `--outputFile.json=${report}`,
    ]);
    const found = readReport(report);
    const unread =
      found?.testResults.filter((file) => file.status === 'failed' && !hasFailure(file)).length ?? 0;
    return whole(ok, {
      passed: found?.numPassedTests ?? 0,
      failed: (found?.numFailedTests ?? 0) + unread,
      skipped: (found?.numPendingTests ?? 0) + (found?.numTodoTests ?? 0),
    });
  });
}

const hasFailure = (file) => file.assertionResults.some((test) => test.status === 'failed');

/** The console's tests in a real browser. */
export async function runBrowserTests(node) {
  console.log('\n— browser tests');
  return counted(async (report) => {
    const env = { ...process.env, PLAYWRIGHT_JSON_OUTPUT_NAME: report, PLAYWRIGHT_JSON_OUTPUT_FILE: report };
    const ok = await succeeds(node, [tool('@playwright/test/cli.js'), 'test', '--reporter=list,json'], env);
    const stats = readReport(report)?.stats;
    return whole(ok, {
      passed: (stats?.expected ?? 0) + (stats?.flaky ?? 0),
      failed: stats?.unexpected ?? 0,
      skipped: stats?.skipped ?? 0,
    });
  });
}

/** A run that failed without a failing test (no browser, a broken set-up) is a failure all the same. */
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

async function succeeds(node, args, env = process.env) {
  try {
    await run(node, args, { cwd: root, env: { ...env, NEXT_TELEMETRY_DISABLED: '1' } });
    return true;
  } catch (error) {
    console.log(error.message);
    return false;
  }
}

/**
 * Runs steps one after the other and prints the sum as the last line.
 * @param {(() => Promise<Count>)[]} steps
 */
export async function sumUp(steps) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const step of steps) {
    const count = await step();
    for (const key of Object.keys(sum)) sum[key] += count[key];
  }
  const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : '';
  console.log(`\n${sum.passed} passed, ${sum.failed} failed${skipped}`);
  process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0;
}
