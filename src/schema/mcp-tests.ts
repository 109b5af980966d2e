import {z} from 'zod'

/** The outcome of a try of an MCP server. A failure is an outcome, and no refusal. */
export const McpTest = z.strictObject({
  success: z.boolean(),
  /** Of the server's answer; null where it gave none. */
  status_code: z.int().nullable(),
  response_time_ms: z.int(),
  /** The server's own, after which it was tried. */
  url: z.string(),
  /** Its own word for itself, else the name of its row. */
  server_name: z.string().nullable(),
  protocol_version: z.string().nullable(),
  /** A sentence of at most 300 printable characters; null of a success. */
  error: z.string().nullable(),
})
export type McpTest = z.output<typeof McpTest>

/** The same as the one who tries it knows it. */
export type TriedMcpServer = Omit<McpTest, 'url'>

/** Whatever a client says of a server is taken and not read: the gateway reads the server itself. */
export const McpReport = z.looseObject({})
