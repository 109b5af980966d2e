import {chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {basename, dirname, join, resolve} from 'node:path'
import {parseArgs} from 'node:util'
import {bundle} from './build/bundle.ts'
import {writeChecksums} from './build/checksums.ts'
import {makeExecutable} from './build/executable.ts'
import {billOfMaterials} from './build/sbom.ts'
import {type Arch, lockedNode} from './cross-node.ts'

const USAGE = `usage: npm run build -- [--arch x64|arm64] [--node PATH] [--out FILE] [--all]
  --arch   the processor to build for; this machine's by default
  --node   the Node to build on, of the same version as the one that runs this; the locked package by default
  --out    the file to write; dist/gateway for this machine, dist/gateway-linux-ARCH for another
  --all    both processors`
const ARCHES: readonly Arch[] = ['x64', 'arm64']
const MAX_BYTES = 140_000_000

const root = resolve(import.meta.dirname, '..')
process.chdir(root)
try {
  await main()
} catch (error) {
  console.error(`gateway: the build failed: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}

async function main(): Promise<void> {
  const flags = readFlags()
  const {version} = JSON.parse(readFileSync('package.json', 'utf8')) as {version: string}
  const work = resolve('dist', '.work')
  mkdirSync(work, {recursive: true})
  const bundles = await timed('bundle', () => bundle(work, version))
  for (const arch of flags.arches) {
    const out = resolve(flags.out ?? (isHost(arch) ? 'dist/gateway' : `dist/gateway-linux-${arch}`))
    mkdirSync(dirname(out), {recursive: true})
    const node = flags.node ?? lockedNode(root, arch)
    await timed(basename(out), () =>
      makeExecutable({bundles, node, out, work, sameArch: isHost(arch), sqlite: sqliteLibrary(arch)}),
    )
    chmodSync(out, 0o755)
    const bytes = statSync(out).size
    console.log(`${out}: ${(bytes / 1e6).toFixed(1)} MB`)
    if (bytes > MAX_BYTES) throw new Error(`${out} is larger than ${MAX_BYTES / 1e6} MB`)
  }
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  writeFileSync('dist/sbom.cdx.json', `${JSON.stringify(billOfMaterials(lock, bundles.inputs, version), null, 2)}\n`)
  writeChecksums('dist')
  rmSync(work, {recursive: true, force: true})
}

function readFlags(): {arches: readonly Arch[]; node: string | undefined; out: string | undefined} {
  const values = flagsOrUsage()
  const arch = values.arch ?? process.arch
  const arches = values.all ? ARCHES : ARCHES.filter(known => known === arch)
  if (arches.length === 0) usage(`--arch ${arch}: expected x64 or arm64`)
  if (values.all && (values.out || values.node || values.arch)) usage('--all takes no --arch, --node or --out')
  if (values.node && !existsSync(values.node)) usage(`--node ${values.node}: no such file`)
  if (process.platform !== 'linux') throw new Error('the executable is built on Linux')
  return {arches, node: values.node && resolve(values.node), out: values.out}
}

function flagsOrUsage() {
  try {
    const options = {
      arch: {type: 'string'},
      node: {type: 'string'},
      out: {type: 'string'},
      all: {type: 'boolean'},
    } as const
    return parseArgs({options}).values
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error))
  }
}

function usage(problem: string): never {
  console.error(`${problem}\n${USAGE}`)
  process.exit(2)
}

function isHost(arch: Arch): boolean {
  return arch === process.arch
}

function sqliteLibrary(arch: Arch): string {
  return join('node_modules', 'better-sqlite3', 'prebuilds', `linux-${arch}.node`)
}

async function timed<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  const started = performance.now()
  const result = await work()
  console.log(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
  return result
}
