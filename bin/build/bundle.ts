import {existsSync, readFileSync, statSync, writeFileSync} from 'node:fs'
import {isBuiltin} from 'node:module'
import {join} from 'node:path'
import {type BuildOptions, build} from 'esbuild'
import {ASSETS, TABLES, WORKERS, type WorkerName} from '../../src/base/runtime.ts'

/** The files that go into the executable, and every file that is in them (paths from the project's root). */
export type Bundles = {
  readonly main: string
  readonly workers: Readonly<Partial<Record<WorkerName, string>>>
  readonly inputs: readonly string[]
}

/**
 * Companions of the packages we use that are not installed: each is required inside a try, or only by an option we
 * never set.
 */
const OPTIONAL = ['pg-native', 'pino-pretty', 'supports-color']

/** Makes one CommonJS file of the program and one of each worker thread, in `folder`. */
export async function bundle(folder: string, version: string): Promise<Bundles> {
  const inputs = new Set<string>([...Object.values(ASSETS), ...Object.values(TABLES)])
  const make = async (entry: string, name: string): Promise<string> => {
    const outfile = join(folder, `${name}.cjs`)
    const {metafile} = await build({...options(version), entryPoints: [entry], outfile, metafile: true})
    for (const input of Object.keys(metafile.inputs)) inputs.add(input)
    writeFileSync(outfile, inLatin1(readFileSync(outfile, 'utf8')))
    refuseLeftovers(Object.values(metafile.outputs).flatMap(output => output.imports))
    console.log(`${name}.cjs: ${(statSync(outfile).size / 1e6).toFixed(2)} MB`)
    return outfile
  }
  const main = await make('bin/gateway.ts', 'gateway')
  const workers: Partial<Record<WorkerName, string>> = {}
  for (const [name, entry] of Object.entries(WORKERS) as [WorkerName, string][]) {
    if (existsSync(entry)) workers[name] = await make(entry, name)
    else console.log(`${entry} is not there: the executable has no worker "${name}"`)
  }
  return {main, workers, inputs: [...inputs].sort()}
}

function options(version: string) {
  return {
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    minifyWhitespace: true,
    minifySyntax: true,
    // Names stay as they are written: some libraries read them, and a stack trace of the executable can be followed.
    minifyIdentifiers: false,
    legalComments: 'none',
    logLevel: 'warning',
    external: OPTIONAL,
    define: {
      'process.env.NODE_ENV': '"production"',
      __GATEWAY_VERSION__: JSON.stringify(version),
      'import.meta.url': '"file:///gateway"',
      'import.meta.dirname': '"/"',
    },
  } satisfies BuildOptions
}

/**
 * In the executable `require` reaches Node's own modules only: an import left in the bundle would fail when it is run.
 */
function refuseLeftovers(imports: readonly {path: string; external?: boolean}[]): void {
  const left = imports
    .filter(({path, external}) => external && !isBuiltin(path) && !OPTIONAL.includes(path))
    .map(({path}) => path)
  if (left.length > 0) throw new Error(`the bundle still asks for ${[...new Set(left)].join(', ')}`)
}

/**
 * esbuild escapes what is beyond ASCII everywhere but in regular expressions. V8 would keep a program with one
 * character beyond Latin-1 in two bytes for each of its characters.
 */
function inLatin1(program: string): string {
  return program.replace(/[^\0-\xff]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
