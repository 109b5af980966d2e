import {join} from 'node:path'
import type {Environment} from '../environment.ts'
import {CommandFault} from '../fault.ts'
import {type Resource, read} from './document.ts'
import {pathOf, textIf, yamlFiles} from './folder.ts'
import {KINDS} from './kinds.ts'
import {withReferences} from './secrets.ts'
import type {Snapshot} from './snapshot.ts'

export interface ExportedFile {
  /** In the folder. */
  readonly path: string
  readonly resource: Resource
  /** The former content of the file. */
  readonly before: string | undefined
}

/** The files of what was found, and those that an earlier export wrote of what is there no longer. */
export function exportedFiles(
  world: Environment,
  dir: string,
  {found, closed}: Snapshot,
  kinds: ReadonlySet<string>,
): {readonly files: readonly ExportedFile[]; readonly stale: readonly string[]} {
  const files = KINDS.flatMap(({name, secrets}) =>
    found
      .filter(({kind}) => kind === name && kinds.has(name))
      .map(({kind, workspace, slug, spec}) => {
        const path = pathOf({kind, workspace, slug})
        const before = textIf(world, join(dir, path))
        const resource = {kind, workspace, slug, spec}
        return {path, before, resource: {...resource, spec: withReferences(resource, secrets, specIn(before, path))}}
      })
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  )
  const current = new Set(files.map(({path}) => path))
  const folders = KINDS.filter(({name}) => kinds.has(name) && !closed.has(name))
  const stale = folders.flatMap(({folder}) =>
    filesIn(world, dir, folder).filter(path => !current.has(path) && isExported(world, dir, path)),
  )
  return {files, stale}
}

function specIn(text: string | undefined, file: string): Resource['spec'] | undefined {
  if (text === undefined) return undefined
  try {
    return read(text, file)[0]?.spec
  } catch (fault) {
    if (fault instanceof CommandFault) return undefined
    throw fault
  }
}

function filesIn(world: Environment, dir: string, folder: string): string[] {
  try {
    return yamlFiles(world, join(dir, folder)).map(path => path.slice(join(dir, '/').length))
  } catch {
    return []
  }
}

/** True for a file that holds one resource and is called as an export calls it. */
function isExported(world: Environment, dir: string, path: string): boolean {
  try {
    const resources = read(world.readFile(join(dir, path)), path)
    return (
      resources.length === 1 && KINDS.some(({name}) => name === resources[0]!.kind) && pathOf(resources[0]!) === path
    )
  } catch {
    return false
  }
}
