import {parsedObject} from '../../base/json-object.ts'
import {REGISTRY_SCHEMA, type RegistryEntry} from '../../schema/mcp-registry.ts'
import type {RegistryRow} from '../../store/mcp-registry.ts'

/** The most characters of texts in the registry's schema. */
const MOST = {title: 100, description: 100, version: 255, workspace: 60, icon: 255} as const

/** The name of this house in the registry: the host of the base address, its labels reversed. */
export function houseOf(base_url: string): string {
  const {hostname} = new URL(base_url)
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(hostname) && !/^[\d.]+$/.test(hostname)
    ? hostname.split('.').toReversed().join('.')
    : 'local.gateway'
}

/** The name of a server: `{house}.{workspace}/{server}`. */
export function registryName(house: string, row: Pick<RegistryRow, 'workspace_slug' | 'slug'>): string {
  return `${house}.${row.workspace_slug.replace(/[^a-zA-Z0-9.-]/g, '-').slice(0, MOST.workspace)}/${row.slug}`
}

/** A server as the registry's schema has it: texts of the upstream, else of the row. */
export function registryEntry(row: RegistryRow, base_url: string): RegistryEntry {
  const house = houseOf(base_url)
  const reported = (row.metadata === null ? undefined : parsedObject(row.metadata)) ?? {}
  const textOf = (value: unknown, most: number) =>
    typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, most).toWellFormed() : undefined
  const title = textOf(reported.title, MOST.title) ?? textOf(row.name, MOST.title)
  const website = webAddress(reported.website_url)
  const icons = (Array.isArray(reported.icons) ? reported.icons : []).filter(
    icon => webAddress(icon?.src) !== undefined && icon.src.length <= MOST.icon,
  )
  return {
    server: {
      $schema: REGISTRY_SCHEMA,
      name: registryName(house, row),
      ...(title !== undefined && {title}),
      description:
        textOf(reported.description, MOST.description) ??
        textOf(row.description, MOST.description) ??
        title ??
        row.slug,
      version: textOf(reported.server_version, MOST.version) ?? '0.0.0',
      ...(website !== undefined && {websiteUrl: website}),
      ...(icons.length > 0 && {icons}),
      remotes: [{type: 'streamable-http', url: `${base_url}/${row.workspace_slug}/${row.slug}/mcp`}],
    },
    _meta: {
      [`${house}/registry`]: {publishedAt: row.created_at, updatedAt: row.last_updated_at, isLatest: true},
    },
  }
}

function webAddress(value: unknown): string | undefined {
  return typeof value === 'string' && /^https?:\/\/\S+$/.test(value) && URL.canParse(value) ? value : undefined
}
