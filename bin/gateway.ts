import {isExecutable, version} from '../src/base/runtime.ts'
import {beginFrugally} from './malloc-arena.ts'

const args = process.argv.slice(2)
if (isExecutable && args[0] === 'serve') beginFrugally()
const answer = versionAnswer(args)
if (answer === undefined) run()
else console.log(answer)

/**
 * The answer to `gateway version [--json]`, `--version` and `-V`, given before anything else is loaded: it has to be
 * instant.
 */
function versionAnswer([first, second, ...rest]: readonly string[]): string | undefined {
  if (rest.length > 0 || !['version', '--version', '-V'].includes(first ?? '')) return undefined
  if (second === undefined) return version
  if (second !== '--json') return undefined
  return JSON.stringify({
    version,
    node: process.versions.node,
    platform: process.platform,
    arch: process.arch,
    executable: isExecutable,
  })
}

/** Loads the command line and ends with its exit code. Only a fault of our own is caught here. */
function run(): void {
  import('../cli/index.ts')
    .then(({main}) => main(args))
    .then(
      code => {
        process.exitCode = code
      },
      (error: unknown) => {
        console.error(error)
        process.exitCode = 1
      },
    )
}
