import {isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import {parsedObject} from '../../base/json-object.ts'
import {cleaned} from '../../base/stored-text.ts'
import {type McpMetadata, UNSYNCED} from '../../schema/mcp-integrations.ts'
import type {Hello} from '../upstream/upstream.ts'
import {printable} from '../wire/faults.ts'

/** The description that a server gives of itself, as rows hold it. */

const MOST_TEXT = 4_000
const MOST_ICONS = 20
const MOST_ICONS_CHARACTERS = 100_000
const MOST_FLAGS_CHARACTERS = 20_000

/** The metadata of a row, those of an integration that was never read where it has none. */
export function metadataIn(text: string | null): McpMetadata {
  const read = text === null ? undefined : parsedObject(text)
  return {...UNSYNCED, ...(read as Partial<McpMetadata> | undefined)}
}

/** The members that the answer to `initialize` or `server/discover` brings. */
export function describedBy({server_info, protocol_version, capabilities}: Hello) {
  const textOf = (key: string) => textIn(server_info, key)
  return {
    title: textOf('title'),
    description: textOf('description'),
    icons: iconsIn(server_info),
    server_name: textOf('name'),
    server_version: textOf('version'),
    website_url: textOf('websiteUrl'),
    protocol_version,
    capability_flags: JSON.stringify(capabilities).length > MOST_FLAGS_CHARACTERS ? {} : {...capabilities},
  }
}

/** A text of a server for people: printable, on one line, and bounded. */
export function sentence(text: string): string {
  return printable(text)
}

function textIn(info: JsonObject | null, key: string): string | null {
  const value = own(info, key)
  return typeof value === 'string' && value !== '' ? cleaned(value.slice(0, MOST_TEXT)) : null
}

function iconsIn(info: JsonObject | null): JsonValue[] | null {
  const icons = own(info, 'icons')
  if (!Array.isArray(icons)) return null
  const kept = icons.filter(isObject).slice(0, MOST_ICONS)
  return JSON.stringify(kept).length > MOST_ICONS_CHARACTERS ? null : kept
}
