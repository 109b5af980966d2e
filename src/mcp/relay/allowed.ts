import {type JsonObject, own} from '../../base/json-member.ts'
import type {CapabilityType} from '../../store/tables/registry.ts'
import type {McpServer} from '../call/server.ts'
import type {ListMethod} from '../content/entries.ts'
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

/** Throws `capability_unknown` (-32602) for what is off or in quarantine: the words are the same for any reason. */
export function checkAllowed(
  method: string,
  params: JsonObject | undefined,
  {switches, pins}: Pick<McpServer, 'switches' | 'pins'>,
  id_text: string,
): void {
  const name = nameOf(method, params)
  if (name === null || method === 'resources/unsubscribe') return
  const refuseUnless = (is_on: boolean, type: CapabilityType, kind: string) => {
    if (is_on && pins.judge(type, name, null).callable) return
    throw new McpFault('capability_unknown', {kind, name: printable(name)}, {id_text})
  }
  if (method === 'tools/call') return refuseUnless(switches.isOn('tool', name), 'tool', 'tool')
  if (method === 'prompts/get') return refuseUnless(switches.isOn('prompt', name), 'prompt', 'prompt')
  if (method !== 'completion/complete') {
    if (!switches.isResourceOn(name)) refuseUnless(false, 'resource', 'resource')
    return
  }
  const is_prompt = own(own(params, 'ref'), 'type') === 'ref/prompt'
  if (is_prompt) refuseUnless(switches.isOn('prompt', name), 'prompt', 'prompt')
  else refuseUnless(switches.isTemplateOn(name), 'resource_template', 'resource')
}

const TYPES: Readonly<Record<ListMethod, CapabilityType>> = {
  'tools/list': 'tool',
  'prompts/list': 'prompt',
  'resources/list': 'resource',
  'resources/templates/list': 'resource_template',
}

/** Judges an entry of a list: callers see it, or do not; and the rows have it as it is, or it is news. */
export function judgedEntry(
  method: ListMethod,
  {key, entry}: ListedEntry,
  {switches, pins}: Pick<McpServer, 'switches' | 'pins'>,
): {readonly is_visible: boolean; readonly is_news: boolean} {
  const {visible, is_news} = pins.judge(TYPES[method], key, entry)
  return {is_visible: visible && isSwitchedOn(method, key, switches), is_news}
}

function isSwitchedOn(method: ListMethod, key: string, switches: McpServer['switches']): boolean {
  switch (method) {
    case 'tools/list':
      return switches.isOn('tool', key)
    case 'prompts/list':
      return switches.isOn('prompt', key)
    case 'resources/list':
      return switches.isResourceOn(key)
    case 'resources/templates/list':
      return switches.isTemplateOn(key)
  }
}
