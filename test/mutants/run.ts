// `npm run mutants [NAME...]`: takes one mechanism out at a time (a patch of this folder) and has the test that guards
// it fail. A patch that no longer applies, a test that passes without its mechanism, or one that fails with it, is a
// failure. `--list` prints the mechanisms and their tests and runs nothing.
import {spawn, spawnSync} from 'node:child_process'
import {mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync} from 'node:fs'
import {availableParallelism, tmpdir} from 'node:os'
import {join, resolve} from 'node:path'

interface Mutant {
  readonly name: string
  readonly patch: string
  /** What the patch takes out, in a sentence. */
  readonly mechanism: string
  /** Files of tests, of which one has to fail. */
  readonly tests: readonly string[]
  /** The words of one test's name, where not all of its file is needed. */
  readonly only?: string
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly {readonly status: string; readonly fullName: string}[]
  }[]
}

interface Result {
  readonly file: string
  readonly name: string
  readonly status: string
}

const root = resolve(import.meta.dirname, '../..')
const words = process.argv.slice(2)
const names = words.filter(word => !word.startsWith('--'))
const mutants = readMutants().filter(({name}) => names.length === 0 || names.includes(name))

if (mutants.length === 0) fail(`no mutant is called ${names.join(', ')}; npm run mutants -- --list names them`)
if (words.includes('--list')) {
  for (const {name, mechanism, tests, only} of mutants)
    console.log(`${name}\n  ${mechanism}\n  ${tests.join(' ')}${only ? ` -t '${only}'` : ''}`)
  process.exit(0)
}

const queue = [...mutants]
const faults: string[] = []
let caught = 0
const lanes = Array.from({length: Math.min(availableParallelism(), queue.length)}, openLane)
// One run of all tests costs less than half of a run for each mutant.
const all_tests = [...new Set(mutants.flatMap(({tests}) => tests))]
const as_it_is = await run(lanes[0]!, {tests: all_tests}, {bails: false, limit_ms: 3_600_000})
await Promise.all(lanes.map(lane => work(lane)))
for (const lane of lanes) closeLane(lane)
for (const fault of faults) console.log(fault)
console.log(`mutants: ${caught} passed, ${faults.length} failed`)
process.exit(faults.length === 0 ? 0 : 1)

async function work(lane: string) {
  for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
    const fault = await tried(lane, mutant)
    if (fault) faults.push(`${mutant.name}: ${fault}`)
    else caught++
    console.log(`${fault ? 'MISSED' : 'caught'}  ${mutant.name}${fault ? `: ${fault}` : ''}`)
  }
}

/** What is wrong with `mutant`; nothing when its test passes without the patch and fails with it. */
async function tried(lane: string, mutant: Mutant): Promise<string | undefined> {
  const together = resultsOf(mutant)
  const is_clean = together.length > 0 && together.every(({status}) => status !== 'failed')
  const whole = is_clean ? counted(together, as_it_is) : await run(lane, mutant)
  if (whole.failed.length > 0 || whole.passed === 0) {
    return `its test does not pass as the code is (${whole.failed[0] ?? 'no test ran'})\n${whole.output.slice(-2000)}`
  }
  const patch = join(root, 'test/mutants', mutant.patch)
  const applied = spawnSync('git', ['apply', '--recount', patch], {cwd: lane, encoding: 'utf8'})
  if (applied.status !== 0) return `the patch does not apply: ${applied.stderr.trim()}`
  try {
    const bailed = await run(lane, mutant)
    // the first failure ends the other files too, now and then before it is in the report itself
    const is_whole = bailed.failed.length > 0 || bailed.exit_code === 0
    const without = is_whole ? bailed : await run(lane, mutant, {bails: false})
    if (without.failed.length === 0 && without.passed > 0)
      return `no test of ${mutant.tests.join(', ')} fails without: ${mutant.mechanism}`
    if (without.failed.length === 0) return `the tests could not run with the patch:\n${without.output.slice(-2000)}`
    console.log(`        ${mutant.mechanism}\n        caught by: ${without.failed[0]}`)
    return
  } finally {
    spawnSync('git', ['apply', '--recount', '-R', patch], {cwd: lane})
  }
}

/** The results of a mutant's tests in the run of all. */
function resultsOf({tests, only}: Mutant): readonly Result[] {
  const named = only === undefined ? /(?:)/ : new RegExp(only)
  return as_it_is.results.filter(({file, name}) => tests.some(test => file.startsWith(test)) && named.test(name))
}

function counted(results: readonly Result[], {exit_code, output}: {exit_code: number | null; output: string}) {
  const failed = results.filter(({status}) => status === 'failed').map(({file, name}) => `${file}: ${name}`)
  return {results, passed: results.filter(({status}) => status === 'passed').length, failed, exit_code, output}
}

async function run(
  lane: string,
  {tests, only}: Pick<Mutant, 'tests' | 'only'>,
  {bails = true, limit_ms = 300_000} = {},
) {
  const report = join(lane, '.mutant-report.json')
  rmSync(report, {force: true})
  const child = spawn(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...tests,
      ...(only ? ['-t', only] : []),
      ...(bails ? ['--bail=1'] : []),
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    {
      cwd: lane,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {...process.env, TEST_RING: process.env.TEST_RING ?? 'own'},
      timeout: limit_ms,
    },
  )
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk
  })
  const exit_code = await new Promise<number | null>(done => child.once('close', done))
  const results = (readReport(report)?.testResults ?? []).flatMap(file =>
    file.assertionResults.map(({status, fullName}): Result => {
      return {file: file.name.slice(lane.length + 1), name: fullName.trim(), status}
    }),
  )
  return counted(results, {exit_code, output})
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    return
  }
}

/** A copy of what git tracks, changes that are not committed included, in which patches are tried. */
function openLane(): string {
  const lane = mkdtempSync(join(tmpdir(), 'gateway-mutants-'))
  const copied = spawnSync(
    'sh',
    ['-c', 'git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$0"', lane],
    {
      cwd: root,
    },
  )
  if (copied.status !== 0) fail(`the sources could not be copied: ${copied.stderr}`)
  symlinkSync(join(root, 'node_modules'), join(lane, 'node_modules'))
  return lane
}

function closeLane(lane: string) {
  rmSync(lane, {recursive: true, force: true})
}

/**
 * A patch begins with `Mechanism: sentence`, `Caught by: files` and, where wanted, `Only: words of the test's name`.
 */
function readMutants(): Mutant[] {
  const folder = join(root, 'test/mutants')
  return readdirSync(folder)
    .filter(file => file.endsWith('.patch'))
    .sort()
    .map(patch => {
      const text = readFileSync(join(folder, patch), 'utf8')
      const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1]
      const mechanism = field('Mechanism') ?? fail(`${patch} has no line "Mechanism: ..."`)
      const tests = (field('Caught by') ?? fail(`${patch} has no line "Caught by: ..."`)).split(' ')
      const only = field('Only')
      return {name: patch.slice(0, -'.patch'.length), patch, mechanism, tests, ...(only ? {only} : {})}
    })
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
