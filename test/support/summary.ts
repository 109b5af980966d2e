import {existsSync, readFileSync} from 'node:fs'

/** What vitest's JSON reporter writes, as far as it is counted here. */
type Report = {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly testResults: readonly {readonly status: string; readonly assertionResults: readonly unknown[]}[]
}

const total = {passed: 0, failed: 0, skipped: 0}
for (const file of process.argv.slice(2)) {
  if (!existsSync(file)) {
    // A stage that ended before its tests could run is a failure, not silence.
    console.log(`${file} was not written: its stage did not come to its tests`)
    total.failed += 1
    continue
  }
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report
  total.passed += report.numPassedTests
  // A file that could not be loaded has no tests to count, so it counts as one.
  total.failed +=
    report.numFailedTests + report.testResults.filter(each => each.status === 'failed' && each.assertionResults.length === 0).length
  total.skipped += report.numPendingTests
}
if (total.skipped > 0) console.log(`${total.skipped} skipped`)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1
