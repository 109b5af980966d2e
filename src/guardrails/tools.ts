import {isObject, type JsonValue, listOf, own} from './json.ts'

/** True when an answer, of whatever dialect, calls a tool. */
export function callsTools(answer: JsonValue): boolean {
  const inChoices = listOf(own(answer, 'choices')).some(choice => {
    const message = own(choice, 'message')
    return listOf(own(message, 'tool_calls')).length > 0 || isObject(own(message, 'function_call'))
  })
  const inBlocks = listOf(own(answer, 'content')).some(block => CALLS.has(String(own(block, 'type'))))
  return inChoices || inBlocks || listOf(own(answer, 'output')).some(item => /_call$/.test(String(own(item, 'type'))))
}

const CALLS: ReadonlySet<string> = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use'])

/** A tool that a request offers, as constraints see it. */
export interface OfferedTool {
  /** `tools[0]`, or `functions[0]` in the older spelling. */
  readonly place: string
  /**
   * The types of a tool that it may have: a tool without a type is a function of the caller's, `custom` in some
   * dialects.
   */
  readonly types: readonly string[]
  /** function.name, else name, else its type. */
  readonly name: string | null
}

export function offeredTools(body: JsonValue): readonly OfferedTool[] {
  const tools = listOf(own(body, 'tools')).map((tool, index) => offered(tool, `tools[${index}]`))
  return [...tools, ...listOf(own(body, 'functions')).map((tool, index) => offered(tool, `functions[${index}]`))]
}

function offered(tool: JsonValue, place: string): OfferedTool {
  const type = own(tool, 'type')
  const names = [own(own(tool, 'function'), 'name'), own(tool, 'name'), type]
  const name = names.find(each => typeof each === 'string' && each !== '')
  return {
    place,
    types: typeof type === 'string' ? [type] : ['function', 'custom'],
    name: typeof name === 'string' ? name : null,
  }
}
