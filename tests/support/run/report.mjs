// A vitest reporter that writes the result of a run to the file named by GATEWAY_TEST_REPORT.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** @param {readonly import('vitest').TestError[] | undefined} errors the first one's message. */
const reason = (errors) => String(errors?.[0]?.message ?? 'no message');

/** @implements {import('vitest/node').Reporter} */
export default class Report {
  /** @type {import('vitest/node').Reporter['onTestRunEnd']} */
  onTestRunEnd(modules, errors) {
    const failures = errors.map((error) => ({ title: 'outside every test', message: reason([error]) }));
    const report = { passed: 0, failed: 0, skipped: 0, notRun: [], failures, files: [] };
    for (const file of modules) {
      const { duration, collectDuration } = file.diagnostic();
      const path = relative(process.cwd(), file.moduleId);
      report.files.push({ path, ms: duration + collectDuration });
      const before = failures.length;
      for (const test of file.children.allTests()) {
        const { state, errors: found } = test.result();
        if (state === 'passed') report.passed += 1;
        else if (state === 'failed') {
          failures.push({ title: `${path} > ${test.fullName}`, message: reason(found) });
        } else {
          report.skipped += 1;
          report.notRun.push(test.fullName);
        }
      }
      // A file that could not be read, or whose set-up failed, counts as one failure.
      if (file.state() === 'failed' && failures.length === before) {
        failures.push({ title: path, message: reason(file.errors()) });
      }
    }
    report.failed = failures.length;
    writeFileSync(process.env.GATEWAY_TEST_REPORT ?? '', JSON.stringify(report));
  }
}
