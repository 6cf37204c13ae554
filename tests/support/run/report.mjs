// A reporter of vitest: writes to the file that GATEWAY_TEST_REPORT names what a run came to.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** @implements {import('vitest/node').Reporter} */
export default class Report {
  /** @type {import('vitest/node').Reporter['onTestRunEnd']} */
  onTestRunEnd(modules, errors) {
    const report = { passed: 0, failed: errors.length, skipped: 0, notRun: [], files: [] };
    for (const file of modules) {
      const { duration, collectDuration } = file.diagnostic();
      report.files.push({ path: relative(process.cwd(), file.moduleId), ms: duration + collectDuration });
      let failures = 0;
      for (const test of file.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') report.passed += 1;
        else if (state === 'failed') failures += 1;
        else {
          report.skipped += 1;
          report.notRun.push(test.fullName);
        }
      }
      // A file that could not be read, or whose set-up failed, counts as one failure.
      report.failed += failures || (file.state() === 'failed' ? 1 : 0);
    }
    writeFileSync(process.env.GATEWAY_TEST_REPORT ?? '', JSON.stringify(report));
  }
}
