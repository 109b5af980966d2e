import {join} from 'node:path'
import type {Environment} from '../environment.ts'
import {fileReason, usageFault} from '../fault.ts'
import {type Address, fileName, type Resource, read} from './document.ts'
import {KINDS} from './kinds.ts'

/** The path of a resource's file in the folder of all. */
export function pathOf({kind, workspace, slug}: Address): string {
  const folder = KINDS.find(({name}) => name === kind)!.folder
  return join(folder, ...(workspace === null ? [] : [fileName(workspace)]), `${fileName(slug)}.yaml`)
}

const MAX_DEPTH = 10

/**
 * Every YAML file in a folder and those in it, by path, in the order of their names; those with a dot in front are left
 * out.
 */
export function yamlFiles(world: Environment, path: string, depth = 0): string[] {
  const names = world.listFolder(path)
  if (names === undefined) return /\.ya?ml$/.test(path) || depth === 0 ? [path] : []
  if (depth > MAX_DEPTH) throw usageFault(`${path} is more than ${MAX_DEPTH} folders deep.`)
  return [...names]
    .sort()
    .filter(name => !name.startsWith('.') && name !== 'node_modules')
    .flatMap(name => yamlFiles(world, join(path, name), depth + 1))
}

/** The content of the files. */
export function readFolder(world: Environment, path: string): Resource[] {
  try {
    return yamlFiles(world, path).flatMap(file => read(world.readFile(file), file))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === undefined || (cause as {exit?: number}).exit !== undefined)
      throw cause
    throw usageFault(`${path} cannot be read: ${fileReason(cause)}.`)
  }
}

/** The content of `path` in a folder; undefined when there is no such file. */
export function textIf(world: Environment, path: string): string | undefined {
  try {
    return world.readFile(path)
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(String((cause as NodeJS.ErrnoException).code))) return undefined
    throw usageFault(`${path} cannot be read: ${fileReason(cause)}.`)
  }
}
