import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync} from 'node:fs'
import {join} from 'node:path'

export type Arch = 'x64' | 'arm64'

/**
 * The path of the locked Node for Linux on `arch`: from node_modules on a machine of that kind, else from `.cross/`,
 * where it is fetched once from the npm registry and refused unless its hash is the one in package-lock.json.
 */
export function lockedNode(root: string, arch: Arch): string {
  const name = `node-linux-${arch}`
  const installed = join(root, 'node_modules', name, 'bin', 'node')
  if (existsSync(installed)) return installed
  const {packages} = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const {version, integrity} = packages[`node_modules/${name}`] as {version: string; integrity: string}
  const folder = join(root, '.cross', `${name}-${version}`)
  const node = join(folder, 'bin', 'node')
  if (!existsSync(node)) fetchPackage({root, spec: `${name}@${version}`, integrity, folder})
  return node
}

function fetchPackage({
  root,
  spec,
  integrity,
  folder,
}: {
  root: string
  spec: string
  integrity: string
  folder: string
}): void {
  const partial = `${folder}.partial`
  rmSync(partial, {recursive: true, force: true})
  mkdirSync(partial, {recursive: true})
  console.log(`fetching ${spec}`)
  execFileSync('npm', ['pack', spec, '--silent', '--pack-destination', partial], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const archive = join(partial, readdirSync(partial).find(name => name.endsWith('.tgz')) ?? 'missing.tgz')
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (found !== integrity) throw new Error(`${spec} has the hash ${found}, but package-lock.json says ${integrity}`)
  execFileSync('tar', ['-xzf', archive, '-C', partial, '--strip-components=1', 'package/bin/node', 'package/LICENSE'])
  rmSync(archive)
  rmSync(folder, {recursive: true, force: true})
  renameSync(partial, folder)
}
