import {spawnSync} from 'node:child_process'
import {join, resolve} from 'node:path'
import {runNew} from './new/run.ts'

const root = resolve(import.meta.dirname, '..')
const {code, output, written} = runNew(process.argv.slice(2), root)
if (code === 0) {
  formatted(written.filter(path => path.endsWith('.ts')))
  console.log(output)
} else console.error(output)
process.exitCode = code

/** The templates leave line breaks and the order of imports to biome. */
function formatted(paths: readonly string[]): void {
  if (paths.length === 0) return
  const biome = join(root, 'node_modules/.bin/biome')
  const {status, stderr, error} = spawnSync(process.execPath, [biome, 'check', '--write', ...paths], {
    cwd: root,
    encoding: 'utf8',
  })
  if (error || status !== 0) console.error(`gateway: biome could not format these files: ${error?.message ?? stderr}`)
}
