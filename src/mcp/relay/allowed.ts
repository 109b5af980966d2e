import type {JsonObject} from '../../base/json-member.ts'
import {own} from '../../base/json-member.ts'
import type {McpServer} from '../call/server.ts'
import {LISTS, type ListMethod} from '../content/entries.ts'
import type {ListedEntry} from '../content/lists.ts'
import {McpFault, printable} from '../wire/faults.ts'

/** The tool, prompt or address that a request names; null where its method has none. */
export function nameOf(method: string, params: JsonObject | undefined): string | null {
  const of = (member: string) => {
    const value = own(params, member)
    return typeof value === 'string' ? value : null
  }
  switch (method) {
    case 'tools/call':
    case 'prompts/get':
      return of('name')
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return of('uri')
    case 'completion/complete': {
      const ref = own(params, 'ref')
      const named = own(ref, 'name') ?? own(ref, 'uri')
      return typeof named === 'string' ? named : null
    }
    default:
      return null
  }
}

/** Throws `capability_unknown` (-32602) for what is switched off: the words are the same for any reason. */
export function checkAllowed(
  method: string,
  params: JsonObject | undefined,
  {switches}: McpServer,
  id_text: string,
): void {
  if (switches.hides_nothing) return
  const name = nameOf(method, params)
  if (name === null) return
  const unknown = (kind: string) => new McpFault('capability_unknown', {kind, name: printable(name)}, {id_text})
  if (method === 'tools/call' && !switches.isOn('tool', name)) throw unknown('tool')
  if (method === 'prompts/get' && !switches.isOn('prompt', name)) throw unknown('prompt')
  if (method.startsWith('resources/') && method !== 'resources/unsubscribe' && !switches.isResourceOn(name))
    throw unknown('resource')
  if (method !== 'completion/complete') return
  const is_prompt = own(own(params, 'ref'), 'type') === 'ref/prompt'
  if (is_prompt ? !switches.isOn('prompt', name) : !switches.isTemplateOn(name))
    throw unknown(is_prompt ? 'prompt' : 'resource')
}

/** True where a caller sees an entry of a list. */
export function isVisible(method: ListMethod, {key, entry}: ListedEntry, {switches}: McpServer): boolean {
  if (switches.hides_nothing) return true
  switch (method) {
    case 'tools/list':
      return switches.isOn('tool', key)
    case 'prompts/list':
      return switches.isOn('prompt', key)
    case 'resources/list':
      return switches.isResourceOn(key)
    case 'resources/templates/list':
      return switches.isTemplateOn(String(own(entry, LISTS[method].key)))
  }
}
