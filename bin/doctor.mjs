// Runs after every npm install. better-sqlite3 does not refuse an old Node: it crashes it without a word, so the
// version is looked at first, and the database is opened only under a Node that can.
import {spawnSync} from 'node:child_process'
import {existsSync} from 'node:fs'
import {join, resolve} from 'node:path'

const LEAST_NODE = 24
const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const locked = join(root, 'node_modules', '.bin', 'node')
const node = existsSync(locked) ? locked : process.execPath

const PROBE = `
const major = Number(process.versions.node.split('.')[0])
if (major < ${LEAST_NODE}) { console.log('old ' + process.version); process.exit(0) }
import('better-sqlite3').then(({default: Database}) => {
  const db = new Database(':memory:')
  db.pragma('user_version')
  db.close()
  console.log('Node ' + process.version)
})`

// "npm install --package-lock-only" runs this too, with nothing installed.
if (!existsSync(join(root, 'node_modules', 'better-sqlite3'))) process.exit(0)

const {status, signal, stdout, stderr, error} = spawnSync(node, ['-e', PROBE], {cwd: root, encoding: 'utf8'})
if (status === 0 && stdout.startsWith('old')) {
  console.error(`gateway needs Node ${LEAST_NODE} or later; this is ${stdout.slice(4).trim()} (${node}).`)
  console.error(
    'On Linux x64 and arm64 npm installs it, unless optional packages are left out. Elsewhere install it and put it first in PATH.',
  )
  process.exit(1)
}
if (status !== 0) {
  console.error(
    `gateway: ${node} cannot open SQLite here: ${error?.message ?? (stderr.trim() || `it ended with ${signal ?? status}`)}`,
  )
  process.exit(1)
}
console.log(`gateway: ready with ${stdout.trim()}`)
