import {existsSync, readFileSync} from 'node:fs'
import {relative} from 'node:path'
import {stripVTControlCharacters} from 'node:util'

/** What vitest's JSON reporter writes, as far as it is read here. */
type Report = {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly testResults: readonly TestFile[]
}
type TestFile = {
  readonly name: string
  readonly status: string
  readonly message: string
  readonly assertionResults: readonly {
    readonly fullName: string
    readonly status: string
    readonly failureMessages: readonly string[]
  }[]
}
type Failure = {readonly file: string; readonly name: string; readonly message: string}

/** More than this is no accident of a busy machine: it is not tried a second time. */
const MAX_FILES_AGAIN = 3
const MESSAGE_LINES = 12

const [mode, ...files] = process.argv.slice(2)
if (mode === 'failed') failedFiles(files)
else sum(mode === undefined ? files : [mode, ...files])

/**
 * `summary.ts failed REPORT`: prints the files with a failure, for a second try, a line each; none when they are too
 * many.
 */
function failedFiles([report]: readonly string[]): void {
  const failed = new Set(failures(read(report!)).map(({file}) => file))
  if (failed.size <= MAX_FILES_AGAIN) for (const file of failed) console.log(file)
}

/**
 * `summary.ts REPORT...`: names each failure and says `N passed, N failed` last. Where `REPORT.again` stands beside a
 * report, its files were run a second time: a test that passed then is counted as passed, and named, since it still
 * wants to be looked at.
 */
function sum(reports: readonly string[]): void {
  const total = {passed: 0, failed: 0, skipped: 0}
  for (const file of reports) {
    if (!existsSync(file)) {
      // A stage that ended before its tests could run is a failure, not silence.
      console.log(`${file} was not written: its stage did not come to its tests`)
      total.failed += 1
      continue
    }
    const report = read(file)
    total.passed += report.numPassedTests
    total.skipped += report.numPendingTests
    const again = existsSync(`${file}.again`) ? read(`${file}.again`) : undefined
    for (const failure of failures(report)) {
      const mended = again !== undefined && passes(again, failure)
      total[mended ? 'passed' : 'failed'] += 1
      console.log(
        `\n${mended ? 'PASSED ONLY THE SECOND TIME' : 'FAILED'} ${failure.file} > ${failure.name}\n${failure.message}`,
      )
    }
  }
  if (total.skipped > 0) console.log(`${total.skipped} skipped`)
  console.log(`${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1
}

function failures(report: Report): readonly Failure[] {
  return report.testResults.flatMap(each => {
    const file = relative(process.cwd(), each.name)
    const failed = each.assertionResults.filter(({status}) => status === 'failed')
    // A file that could not be loaded, or whose process died, has no failed test to count, so it counts as one.
    if (failed.length === 0)
      return each.status === 'failed' ? [{file, name: '(the file)', message: cut(each.message)}] : []
    return failed.map(({fullName, failureMessages}) => ({
      file,
      name: fullName,
      message: cut(failureMessages.join('\n')),
    }))
  })
}

function passes(report: Report, {file, name}: Failure): boolean {
  const again = report.testResults.find(each => relative(process.cwd(), each.name) === file)
  if (again?.status !== 'passed') return false
  return (
    name === '(the file)' || again.assertionResults.some(each => each.fullName === name && each.status === 'passed')
  )
}

function cut(message: string): string {
  return stripVTControlCharacters(message).split('\n').slice(0, MESSAGE_LINES).join('\n')
}

function read(file: string): Report {
  return JSON.parse(readFileSync(file, 'utf8')) as Report
}
