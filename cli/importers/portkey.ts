import {isObject} from '../../src/base/json-object.ts'
import {mapApiKeys, nodesOf, readConfig} from '../../src/schema/configs.ts'
import {usageFault} from '../fault.ts'
import {type Imported, Names, referenceTo} from './imported.ts'

const MAX_TRIES = 100

/**
 * Portkey configs: one as JSON, the reply that shows one (`{"data": {"name", "slug", "config"}}`), or a list of those.
 * Source: portkey.ai/docs, configs.
 */
export function fromPortkey(value: unknown, workspace: string, called: string): Imported {
  const losses: string[] = []
  const secrets = new Map<string, string>()
  const names = new Names()
  const rows = isObject(value) && value.data !== undefined ? value.data : value
  const resources = (Array.isArray(rows) ? rows : [rows]).flatMap((each, at) => {
    if (!isObject(each)) throw usageFault('The file holds no config of Portkey: expected an object, or a list of them.')
    const is_row = each.config !== undefined
    const name = is_row && typeof each.name === 'string' ? each.name : called
    const slug =
      is_row && typeof each.slug === 'string' && /^[\w-]+$/.test(each.slug) ? each.slug : `pc-${names.slug(name)}`
    const config = is_row ? (typeof each.config === 'string' ? parsed(each.config) : each.config) : each
    const path = Array.isArray(rows) ? `[${at}]` : slug
    const read = readable(config, path, losses)
    if (!read) return []
    for (const {node, path: where} of nodesOf(read))
      if (node.virtual_key || node.provider?.startsWith('@'))
        losses.push(
          `${path}: ${where} names ${node.virtual_key ?? node.provider}, whose credential is not in the file: make it with gateway providers create`,
        )
    const kept = mapApiKeys(read, (secret, where) => referenceTo(secret, `${slug}_${where}`, secrets))
    const is_default = is_row && (each.is_default === 1 || each.isDefault === 1)
    return [{kind: 'config', workspace, slug, spec: {name, ...(is_default && {isDefault: 1}), config: kept}}]
  })
  return {resources, losses, secrets}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usageFault('The config in the file is no JSON.')
  }
}

/** The config without what this gateway has no use for, each of which is a loss. */
function readable(value: unknown, name: string, losses: string[]) {
  let config = structuredClone(value)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const read = readConfig(config, {saved: true})
    const wrong = 'issues' in read ? read.issues : read.warnings
    if (!wrong.length && 'config' in read) return read.config
    const [{path, message}] = wrong as [(typeof wrong)[number]]
    losses.push(`${name}: ${path} ${message}`)
    const without = removed(config, path)
    if (without === undefined) break
    config = without
  }
  losses.push(`${name}: nothing of it is carried over`)
  return undefined
}

/** The value without the member at a path such as `config.targets[0].retry`; undefined when that cannot be removed. */
function removed(value: unknown, path: string): unknown {
  const keys = [...path.replace(/^config\.?/, '').matchAll(/([^.[\]]+)/g)].map(([key]) => key)
  const last = keys.pop()
  let at = value
  for (const key of keys)
    at =
      isObject(at) || Array.isArray(at)
        ? ((at as Record<string, unknown>)[key] ?? (at as Record<string, unknown>)[camel(key)])
        : undefined
  if (last === undefined || typeof at !== 'object' || at === null) return undefined
  if (Array.isArray(at)) at.splice(Number(last), 1)
  else if (!Reflect.has(at, last) && !Reflect.has(at, camel(last))) return undefined
  else {
    Reflect.deleteProperty(at, last)
    Reflect.deleteProperty(at, camel(last))
  }
  return value
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
