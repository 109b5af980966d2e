import {topLevel} from '../../base/json.ts'
import {isObject, parseJson} from '../../base/json-object.ts'
import {UNIT} from '../../schema/usage.ts'

/** Words without which no request names a tool that its provider charges for: others are searched, and not read. */
const HINTS = ['search', 'Search', 'interpreter', 'oogle'].map(word => Buffer.from(word))
const NO_KEYS: ReadonlySet<string> = new Set()
/** So many uses are held for, where a request bounds them by nothing. */
const USES = 10
const MAX_USES = 1000

/**
 * Types of tools that providers run themselves and charge for by their use, with the unit. Dates at their ends are
 * versions.
 */
const BY_TYPE: readonly (readonly [RegExp, string])[] = [
  [/^web_search/, UNIT.web_search],
  [/^file_search/, UNIT.file_search],
  [/^x_search/, UNIT.x_search],
  [/^code_interpreter/, UNIT.code_execution],
]
/** Gemini's, which are members of their own. */
const BY_NAME: Readonly<Record<string, string>> = {
  googleSearch: UNIT.web_search,
  google_search: UNIT.web_search,
  googleSearchRetrieval: UNIT.web_search,
  google_search_retrieval: UNIT.web_search,
  enterpriseWebSearch: UNIT.web_search,
  enterprise_web_search: UNIT.web_search,
  googleMaps: UNIT.maps,
  google_maps: UNIT.maps,
}

/** Units that the tools in a request may use up, each with how many at most; null where there are none. */
export function chargedTools(body: Buffer): Readonly<Record<string, number>> | null {
  if (!HINTS.some(hint => body.includes(hint))) return null
  const units: Record<string, number> = {}
  const add = (unit: string, uses: number) => {
    units[unit] = (units[unit] ?? 0) + Math.min(Math.max(1, uses), MAX_USES)
  }
  try {
    const members = topLevel(body, NO_KEYS)
    const read = (name: string): unknown => {
      const span = members.get(name)
      return span && parseJson(body.toString('utf8', span.start, span.end))
    }
    const most = usesIn(read('max_tool_calls')) ?? USES
    const tools = read('tools')
    for (const tool of Array.isArray(tools) ? tools : []) addTool(tool, most, add)
  } catch {
    return null // not JSON: the provider will say so
  }
  return Object.keys(units).length > 0 ? units : null
}

function addTool(tool: unknown, most: number, add: (unit: string, uses: number) => void) {
  if (!isObject(tool)) return
  const {type} = tool
  if (typeof type === 'string') {
    const [, unit] = BY_TYPE.find(([pattern]) => pattern.test(type)) ?? []
    if (unit) add(unit, usesIn(tool.max_uses) ?? most)
  }
  for (const name of Object.keys(tool)) if (Object.hasOwn(BY_NAME, name)) add(BY_NAME[name]!, most)
}

function usesIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}
