import {isList, type JsonObject, own} from '../../base/json-member.ts'
import type {VirtualTool} from '../call/server.ts'
import {judgedEntry} from '../relay/allowed.ts'
import {edited} from '../wire/edits.ts'
import type {VirtualClient} from './client.ts'
import {openTools} from './meant.ts'
import type {MemberTools} from './member-tools.ts'

/** A tool of a virtual server as its client sees it. */
export interface ShownTool {
  readonly tool: VirtualTool
  readonly entry: JsonObject
  /** JSON text of its definition, under the name that it has here. */
  readonly text: string
}

/** The tools that a client sees, in their order: by the switches and pins of their own servers. */
export function shownTools(
  {exchange: {server, caller}}: VirtualClient,
  members: ReadonlyMap<string, MemberTools>,
): readonly ShownTool[] {
  return openTools(server, caller).flatMap(tool => {
    const found = members.get(tool.server.id)?.tools.get(tool.tool)
    if (!found) return []
    const {entry, text} = found
    if (!judgedEntry('tools/list', {at: 0, key: tool.tool, entry}, tool.server).is_visible) return []
    return [{tool, entry, text: edited(text, [{path: ['name'], set: JSON.stringify(tool.name)}])}]
  })
}

/** The address of the page that shows a tool's results; null of a tool without one. */
export function pageOf({entry}: ShownTool): string | null {
  const uri = own(own(own(entry, '_meta'), 'ui'), 'resourceUri')
  return typeof uri === 'string' && uri.startsWith('ui://') ? uri : null
}

/** True of a tool that a model may call; some are for pages alone. */
export function isForModels({entry}: ShownTool): boolean {
  const visibility = own(own(own(entry, '_meta'), 'ui'), 'visibility')
  return !isList(visibility) || visibility.includes('model')
}
