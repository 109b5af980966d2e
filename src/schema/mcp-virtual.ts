import {hash} from 'node:crypto'
import {z} from 'zod'
import {Handle} from './names.ts'

/** Virtual MCP servers: chosen tools of other servers of a workspace, under names of their own. */

const MOST_TOOLS = 1_000
/** A list with more tools than this is searched, unless the server says otherwise. */
export const SEARCH_ABOVE = 30
const MOST_NAME = 64
const NAME = new RegExp(`^[A-Za-z0-9_-]{1,${MOST_NAME}}$`)
const HASH_DIGITS = 6
/** The tools that a long list is searched and called by. */
export const FIND_TOOLS = 'find_tools'
export const CALL_TOOL = 'call_tool'

const VirtualTool = z.strictObject({
  /** Id or slug of a server of the same workspace. */
  server: Handle,
  /** The tool's name at that server. */
  tool: z.string().min(1).max(1024),
  /** @default made of the server's slug and the tool's name */
  name: z
    .string()
    .regex(NAME, `expected at most ${MOST_NAME} letters, digits, - and _`)
    .refine(name => name !== FIND_TOOLS && name !== CALL_TOOL, 'is the name of a tool of the gateway')
    .optional(),
})

export const VirtualTools = z.strictObject({
  /** In the order in which clients see them. */
  tools: z.array(VirtualTool).min(1).max(MOST_TOOLS),
  /** With more tools than this, clients search them by `find_tools`. @default 30 */
  search_above: z.int().min(0).max(MOST_TOOLS).optional(),
})
export type VirtualTools = z.output<typeof VirtualTools>

export const VirtualView = z.strictObject({
  tools: z.array(z.strictObject({server: z.string(), tool: z.string(), name: z.string()})),
  search_above: z.int(),
})

/** The column of a virtual server. Servers are there by id: another of the same slug is another server. */
export interface VirtualRow {
  readonly tools: readonly {readonly server_id: string; readonly tool: string; readonly name?: string}[]
  readonly search_above: number
}

export function readVirtual(column: string): VirtualRow {
  return JSON.parse(column) as VirtualRow
}

/** The servers that a virtual one has tools of, each once. */
export function memberIds({tools}: VirtualRow): readonly string[] {
  return [...new Set(tools.map(({server_id}) => server_id))]
}

/**
 * The name of a tool where none was given: its server's slug and its own name, in the characters that all clients take.
 * One that had to be changed or cut ends in a hash of both, so that two never become one.
 */
export function defaultToolName(server: string, tool: string): string {
  const wanted = `${server}__${tool}`
  if (NAME.test(wanted)) return wanted
  const digest = hash('sha256', JSON.stringify([server, tool]), 'hex').slice(0, HASH_DIGITS)
  return `${wanted.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, MOST_NAME - HASH_DIGITS - 1)}_${digest}`
}
