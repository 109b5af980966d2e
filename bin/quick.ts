import {type ChildProcess, spawn, spawnSync} from 'node:child_process'
import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {basename, dirname, join, relative, resolve} from 'node:path'
import {performance} from 'node:perf_hooks'

// `npm run quick`: the check, the rules of the house, and the tests next to what changed; in less than 90 s on two
// processors. `npm test` runs all of them.

const root = resolve(import.meta.dirname, '..')
const bin = join(root, 'node_modules', '.bin')
const BUDGET_MS = 85_000
/** Test files next to the change that fit into the time. */
const MOST_FILES = 25
const HOUSE_RULES = [
  ...['floors', 'lines', 'glossary', 'prose', 'citations', 'function-length', 'foreign-json'].map(
    name => `test/${name}.test.ts`,
  ),
]

const begun = performance.now()
const children: ChildProcess[] = []
const base = process.argv[2] ?? baseOf()
const changed = changedSince(base)
const {run, left} = testsNextTo(changed)

console.log(`quick: ${changed.length} files changed since ${base.slice(0, 12)}; the check, the rules of the house, and`)
console.log(run.length ? run.map(file => `  ${file}`).join('\n') : '  no test next to them')

const checks = Promise.all([
  finished('biome', ['check', '--error-on-warnings', '--log-level=error']),
  finished('tsc', ['--noEmit', '-p', '.']),
])
const tests = finished('vitest', ['run', '--reporter=dot', ...HOUSE_RULES, ...run])
const timer = setTimeout(() => {
  for (const child of children) child.kill()
  console.log(`quick: stopped after ${BUDGET_MS / 1000} s, before all of it was done; run npm test`)
  process.exit(1)
}, BUDGET_MS)
const failed = [...(await checks), await tests].filter(({status}) => status !== 0)
clearTimeout(timer)
if (left > 0) console.log(`quick: ${left} further test files import one of them; npm test runs all`)
const seconds = ((performance.now() - begun) / 1000).toFixed(0)
console.log(
  failed.length
    ? `quick: ${failed.map(({tool}) => tool).join(', ')} failed after ${seconds} s`
    : `quick: passed in ${seconds} s`,
)
process.exit(failed.length ? 1 : 0)

/** The commit that the branch left the main one at; on the main one, the last commit. */
function baseOf(): string {
  for (const main of ['@{upstream}', 'origin/main', 'main']) {
    const {status, stdout} = spawnSync('git', ['merge-base', 'HEAD', main], {cwd: root, encoding: 'utf8'})
    if (status === 0) return stdout.trim()
  }
  return 'HEAD'
}

function changedSince(commit: string): string[] {
  const list = (...args: string[]) => {
    const {status, stdout, stderr} = spawnSync('git', args, {cwd: root, encoding: 'utf8'})
    if (status !== 0) throw new Error(stderr.trim())
    return stdout.split('\n').filter(file => file !== '')
  }
  return [
    ...new Set([...list('diff', '--name-only', commit), ...list('ls-files', '--others', '--exclude-standard')]),
  ].filter(file => existsSync(join(root, file)))
}

/** Tests that changed, that have the name of a file that changed, or that import one; as many as fit. */
function testsNextTo(files: readonly string[]): {readonly run: readonly string[]; readonly left: number} {
  const all = readdirSync(join(root, 'test'), {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.test.ts') && name !== 'binary.test.ts')
    .map(name => join('test', name))
  const names = new Set(files.map(file => basename(file).replace(/\.(?:test\.)?ts$/, '')))
  const code = new Set(files.filter(file => file.endsWith('.ts')))
  const rank = (test: string) => {
    if (code.has(test)) return 0
    if (names.has(basename(test, '.test.ts'))) return 1
    const imports = [...readFileSync(join(root, test), 'utf8').matchAll(/from '(\.{1,2}\/[^']+)'/g)]
    return imports.some(([, to]) => code.has(relative(root, resolve(root, dirname(test), to!)))) ? 2 : 3
  }
  const near = all
    .filter(test => !HOUSE_RULES.includes(test))
    .map(test => ({test, rank: rank(test)}))
    .filter(each => each.rank < 3)
    .toSorted((one, other) => one.rank - other.rank)
  return {run: near.slice(0, MOST_FILES).map(({test}) => test), left: Math.max(0, near.length - MOST_FILES)}
}

function finished(tool: string, args: readonly string[]): Promise<{readonly tool: string; readonly status: number}> {
  const child = spawn(process.execPath, [join(bin, tool), ...args], {cwd: root, stdio: 'inherit'})
  children.push(child)
  return new Promise(done => void child.on('close', code => done({tool, status: code ?? 1})))
}
