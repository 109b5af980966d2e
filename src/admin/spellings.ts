import type {FastifyRequest} from 'fastify'
import type {z} from 'zod'
import type {AnyOperation} from './operation.ts'

/** Members of a page in the list's own spelling: clients made for one list send theirs to all. */
export function withPage(schema: z.ZodType | undefined, query: unknown): unknown {
  const given = query as Readonly<Record<string, unknown>>
  const meant = (name: string) => {
    const other = PAGE_SPELLINGS.get(name)
    return other && !knows(schema, name) && knows(schema, other) && !Object.hasOwn(given, other) ? other : name
  }
  return Object.keys(given).some(name => PAGE_SPELLINGS.has(name))
    ? Object.fromEntries(Object.entries(given).map(([name, value]) => [meant(name), value]))
    : query
}

const PAGE_SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['currentPage', 'current_page'],
  ['pageSize', 'page_size'],
  ['current_page', 'currentPage'],
  ['page_size', 'pageSize'],
])

/** Clients repeat members of the path in the query or the body; they are ignored there where both agree. */
export function withoutEchoes(schema: z.ZodType | undefined, body: unknown, {params}: FastifyRequest): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const parameters = new Map(
    Object.entries(params as Record<string, string>).map(([name, value]) => [letters(name), value]),
  )
  const echoes = (name: string, value: unknown) =>
    !knows(schema, name) && parameters.has(letters(name)) && parameters.get(letters(name)) === value
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => !echoes(name, value)))
}

/** A body with the names of its schema where its client has others; a member under both names is left, and refused. */
export function respelled({compatibility: {spellings = {}} = {}}: AnyOperation, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const meant = (name: string) => {
    const field = Object.hasOwn(spellings, name) ? spellings[name]! : name
    return Object.hasOwn(body, field) ? name : field
  }
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [meant(name), value]))
}

/** A name without its hyphens and capitals: `workspaceId` and `workspace_id` are one. */
function letters(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase()
}

/** True for a member of the schema. */
export function knows(schema: z.ZodType | undefined, name: string): boolean {
  return schema !== undefined && 'shape' in schema && name in (schema.shape as object)
}
