import type {IncomingHttpHeaders} from 'node:http'
import type {JsonObject} from '../base/json-member.ts'

/** Tools of MCP servers as a run of a model has them: it lists and calls what its caller may. */

/** The caller of a run, as each list and each call of a tool shows him. */
export interface ToolsCaller {
  readonly credential: string
  /** Headers of the client: the trace is in them, no credential is. */
  readonly headers: IncomingHttpHeaders
  readonly remote_address: string | null
}

/** A tool that a model may be offered. */
export interface ServerTool {
  readonly name: string
  readonly description: string | null
  /** The whole schema: `$defs` at its root belong to it. */
  readonly input_schema: JsonObject
  readonly annotations: JsonObject | null
}

/** The tools of a server, or why the caller has none of it. `status`: as HTTP has it. */
export type ToolList =
  | {readonly ok: true; readonly tools: readonly ServerTool[]}
  | {readonly ok: false; readonly status: number; readonly message: string}

/** The end of a call: a text that the model reads. */
export interface ToolOutcome {
  readonly is_error: boolean
  readonly text: string
}

/** Lists and calls tools under all rules of the caller's own requests. Neither rejects; `signal` ends both. */
export interface ServerTools {
  list(server: string, caller: ToolsCaller, signal: AbortSignal): Promise<ToolList>
  /** `args`: the JSON text of an object. */
  call(
    server: string,
    tool: ServerTool,
    args: {readonly text: string; readonly value: JsonObject},
    caller: ToolsCaller,
    signal: AbortSignal,
  ): Promise<ToolOutcome>
}
