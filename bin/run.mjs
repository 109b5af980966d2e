// The one way into every npm script. Plain JavaScript for whatever Node npm came with (18 or later): it installs what
// is missing, finds the Node that the project is locked to, and hands over to it.
import {spawn, spawnSync} from 'node:child_process'
import {existsSync, readFileSync} from 'node:fs'
import {join, resolve} from 'node:path'

const LEAST_NODE = 24
const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const modules = join(root, 'node_modules')
const lockedNode = join(modules, '.bin', 'node')

const CHECKS = [
  ['biome', 'check', '--error-on-warnings'],
  ['tsc', '--noEmit', '-p', '.'],
]
/**
 * Node strips types by WebAssembly, in each thread anew. V8 replaces a wrapper of it once it was called often, and then
 * frees what other threads left behind, which may be gone with its thread: the process dies. With this flag no wrapper
 * is replaced (a breakpoint on Runtime_TierUpWasmToJSWrapper is met without it, and never with it). The executable has
 * it too (bin/build/executable.ts).
 */
const KEEPS_WRAPPERS = '--no-wasm-generic-wrapper'
/** What each npm script runs, in order; a step is a tool of node_modules/.bin or a file for Node, and its arguments. */
const SCRIPTS = {
  start: args => [['node', KEEPS_WRAPPERS, 'bin/gateway.ts', 'serve', '--demo', ...args]],
  test: args => (args.length > 0 ? [['vitest', 'run', ...args]] : [...CHECKS, ['vitest', 'run', ...report()]]),
  bench: args => [['node', KEEPS_WRAPPERS, 'test/bench/index.ts', ...args]],
  new: args => [['node', 'bin/new.ts', ...args]],
  mutants: args => [['node', 'test/mutants/run.ts', ...args]],
  quick: args => [['node', 'bin/quick.ts', ...args]],
  simulate: args => [['node', 'test/simulation/run.ts', ...args]],
  build: args => [['node', 'bin/build.ts', ...args]],
  check: () => CHECKS,
  format: args => [['biome', 'check', '--write', ...args]],
}

const [name, ...args] = process.argv.slice(2)
const script = Object.hasOwn(SCRIPTS, name ?? '') ? SCRIPTS[name] : undefined
if (!script) fail(`usage: node bin/run.mjs ${Object.keys(SCRIPTS).join('|')} [arguments]`, 2)

if (!isInstalled()) install()
const node = findNode()
for (const [tool, ...words] of script(args)) {
  // A tool is run by the Node found above, not by the one its #! line would find.
  const {code, signal} = await run(tool === 'node' ? [node, ...words] : [node, join(modules, '.bin', tool), ...words])
  if (signal) process.kill(process.pid, signal)
  if (code !== 0) process.exit(code ?? 1)
}

/**
 * True when node_modules holds what package-lock.json asks for. npm writes node_modules/.package-lock.json as the last
 * act of an install; a package left out there must be optional (made for another platform).
 */
function isInstalled() {
  try {
    const wanted = packagesOf('package-lock.json')
    const found = packagesOf('node_modules/.package-lock.json')
    const whole = Object.entries(wanted).every(([path, {integrity, optional}]) => {
      if (path === '') return true
      return found[path] ? found[path].integrity === integrity : optional === true
    })
    return whole && (existsSync(lockedNode) || !isLockedPlatform())
  } catch {
    return false
  }
}

function packagesOf(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8')).packages
}

function isLockedPlatform() {
  return process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch)
}

function install() {
  console.error('gateway: installing the locked packages (npm ci); this happens once and takes about half a minute')
  const inside = process.env.npm_execpath?.endsWith('.js')
  const [command, ...before] = inside ? [process.execPath, process.env.npm_execpath] : ['npm']
  // npm hands its options to scripts as npm_config_*: an outer --omit or --ignore-scripts would make half an install.
  const {npm_config_omit, npm_config_ignore_scripts, ...env} = process.env
  const {status, error} = spawnSync(
    command,
    [...before, 'ci', '--include=dev', '--include=optional', '--loglevel=error'],
    {
      cwd: root,
      stdio: 'inherit',
      env,
    },
  )
  if (status === 0) return
  if (error) console.error(`gateway: npm could not be started: ${error.message}`)
  fail(
    [
      'gateway: the packages could not be installed; the reason stands above.',
      'No network? The first run needs an npm registry ("npm config get registry" shows which one); after that nothing does.',
      'Something half done in node_modules? Remove that folder and run the same command again.',
    ].join('\n'),
  )
}

/** The locked Node when it runs here (the packaged one is built for glibc), else this one when it is new enough. */
function findNode() {
  if (majorOf(lockedNode) >= LEAST_NODE) return lockedNode
  if (Number(process.versions.node.split('.')[0]) >= LEAST_NODE) return process.execPath
  return fail(
    [
      `gateway: Node ${LEAST_NODE} or later is needed, and this is ${process.version} (${process.execPath}).`,
      'On Linux x64 and arm64 npm installs the right one, unless optional packages are left out: run "npm ci --include=optional".',
      `Elsewhere install Node ${LEAST_NODE} and put it first in PATH.`,
    ].join('\n'),
  )
}

function majorOf(path) {
  if (!existsSync(path)) return 0
  const {stdout} = spawnSync(path, ['-p', 'process.versions.node'], {encoding: 'utf8'})
  return Number.parseInt(stdout ?? '0', 10) || 0
}

/** Extra arguments for vitest that make it write its counts to TEST_REPORT_FILE as well (.ci/run adds them up). */
function report() {
  const file = process.env.TEST_REPORT_FILE
  return file ? ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`] : []
}

/** Runs a command to its end. Signals sent to us go on to it; Ctrl-C reaches it by itself when we share a terminal. */
function run([command, ...words]) {
  const PATH = `${join(modules, '.bin')}:${process.env.PATH ?? ''}`
  const child = spawn(command, words, {cwd: root, stdio: 'inherit', env: {...process.env, PATH}})
  const relay = signal => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, relay)
  return new Promise(done => {
    child.on('error', error => fail(`gateway: ${command} could not be started: ${error.message}`))
    child.on('exit', (code, signal) => {
      for (const each of signals) process.off(each, relay)
      done({code, signal})
    })
  })
}

/** @returns {never} */
function fail(sentence, code = 1) {
  console.error(sentence)
  process.exit(code)
}
