import {type JsonObject, own} from '../../base/json-member.ts'
import type {ListenFilter, NotificationFilter} from './upstream.ts'

/** Most resources of one listener. */
const MOST_URIS = 1_000

/** The part of a filter that an upstream with these capabilities serves, without the resources of single addresses. */
export function changesOf(filter: ListenFilter, capabilities: JsonObject): NotificationFilter {
  const serves = (kind: string) => own(own(capabilities, kind), 'listChanged') === true
  const wants = (key: 'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged') =>
    filter === 'all' || filter[key] === true
  return {
    ...(wants('toolsListChanged') && serves('tools') && {toolsListChanged: true}),
    ...(wants('promptsListChanged') && serves('prompts') && {promptsListChanged: true}),
    ...(wants('resourcesListChanged') && serves('resources') && {resourcesListChanged: true}),
  }
}

/** The resources that a filter names, each once, where the upstream serves subscriptions. */
export function urisOf(filter: ListenFilter, capabilities: JsonObject): readonly string[] {
  if (filter === 'all' || own(own(capabilities, 'resources'), 'subscribe') !== true) return []
  return [...new Set(filter.resourceSubscriptions)].slice(0, MOST_URIS)
}
