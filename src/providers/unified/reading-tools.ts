import {topLevel} from '../../base/json.ts'
import {isObject, parseJson} from '../../base/json-object.ts'

/** The most that the tools in a request add to its prompt, besides their own text. */
export interface ToolReading {
  /** How often the provider may run a tool by itself, and the model read on with what came of it. */
  readonly rounds: number
  /** The most tokens that one round brings in. */
  readonly tokens: number
  /** A member that adds unbounded content, and its remedy; null when there is none. */
  readonly unbounded: Unbounded | null
}

export interface Unbounded {
  readonly what: string
  readonly remedy: string
}

const NOTHING: ToolReading = {rounds: 0, tokens: 0, unbounded: null}
const NO_KEYS: ReadonlySet<string> = new Set()
const TOOLS = Buffer.from('"tools"')
/**
 * `web_search_options` has a model of chat search: it reads what it found, as often as it likes (OpenAI, web search,
 * Chat Completions; Perplexity, search context size).
 */
const MEMBERS = [
  'mcp_servers',
  'plugins',
  'connectors',
  'data_sources',
  'search_parameters',
  'web_search_options',
] as const
/**
 * Models that search or run code by themselves, whatever the request holds: Groq's compound systems, up to 10 tools a
 * request (console.groq.com/docs/compound/systems); `:online` of OpenRouter, which is its plug-in for the web
 * (openrouter.ai/docs/web-search); search of OpenAI, deep research of Perplexity (OpenAI, web search, Chat Completions;
 * docs.perplexity.ai/guides/pricing).
 */
const SEARCHING = /(?:^|\/)compound(?:-|$)|:online\b|-search-(?:preview|api)\b|sonar-deep-research/i
const FALLBACKS = Buffer.from('fallbacks')
const HINTS = [TOOLS, FALLBACKS, Buffer.from('"models"'), ...MEMBERS.map(name => Buffer.from(name)), Buffer.from('\\u')]

/** The most tokens that web search adds to a prompt (OpenAI, web search, limitations). */
const SEARCHED_TOKENS = 128_000
/** Fifty chunks of 4,096 tokens (OpenAI, file search, customizing). */
const FILED_TOKENS = 204_800
/** Code is run again up to five times (Gemini, code execution). */
const CODE_ROUNDS = 5
const MAX_ROUNDS = 1000

/** Tools that the client runs: what they bring in comes with the next request. Dates at their ends are versions. */
const OF_CLIENT = /^(?:function|custom|computer|bash|text_editor|memory|apply_patch|local_shell|namespace|tool_search)/
const SEARCHES = /^(?:web_search|x_search)/
const FILES = /^file_search/
const SANDBOXES = /^(?:code_interpreter|code_execution)/
const FETCHES = /^web_fetch/
/** A model that reads all before it, and writes (Anthropic, advisor tool). */
const ADVISES = /^advisor/
/** Members of Gemini's tools that bring in text; those of its searches are not charged as a prompt. */
const GEMINI_UNBOUNDED = ['urlContext', 'url_context', 'fileSearch', 'file_search', 'mcpServers', 'mcp_servers']
const GEMINI_CODE = ['codeExecution', 'code_execution']

/**
 * The content that tools of a request add to its prompt beyond the request, and the reading that its `model` does by
 * itself.
 */
export function toolReading(body: Buffer, model: string): ToolReading {
  if (SEARCHING.test(model)) return searches(model)
  if (!HINTS.some(hint => body.includes(hint))) return NOTHING
  let members: ReturnType<typeof topLevel>
  let tools: unknown
  let most: number | null
  let fallbacks: unknown
  try {
    members = topLevel(body, NO_KEYS)
    const read = (name: string): unknown => {
      const span = members.get(name)
      return span && parseJson(body.toString('utf8', span.start, span.end))
    }
    for (const name of MEMBERS)
      if (isGiven(read(name))) return {...NOTHING, unbounded: {what: `"${name}"`, remedy: 'leave it out'}}
    const models = read('models')
    for (const name of Array.isArray(models) ? models : [])
      if (typeof name === 'string' && SEARCHING.test(name)) return searches(name)
    tools = read('tools')
    most = countIn(read('max_tool_calls'))
    fallbacks = body.includes(FALLBACKS) ? read('fallbacks') : undefined
  } catch {
    return NOTHING // not JSON: the provider will say so
  }
  if (fallbacks === 'default')
    return {...NOTHING, unbounded: {what: '"fallbacks": "default"', remedy: 'name its models in a list'}}
  // each model reads the prompt again
  let rounds = Array.isArray(fallbacks) ? fallbacks.length : 0
  let tokens = 0
  for (const tool of Array.isArray(tools) ? tools : isObject(tools) ? [tools] : []) {
    const one = isObject(tool) ? readingOf(tool, most) : NOTHING
    if (one.unbounded) return one
    rounds += one.rounds
    tokens = Math.max(tokens, one.tokens)
  }
  return {rounds: Math.min(rounds, most ?? MAX_ROUNDS, MAX_ROUNDS), tokens, unbounded: null}
}

function searches(model: string): ToolReading {
  const unbounded = {what: `the model ${model.slice(0, 64)}, which searches by itself`, remedy: 'name another model'}
  return {...NOTHING, unbounded}
}

function readingOf(tool: Record<string, unknown>, most: number | null): ToolReading {
  const {type} = tool
  if (typeof type !== 'string') {
    const name = GEMINI_UNBOUNDED.find(each => isGiven(tool[each]))
    if (name) return {...NOTHING, unbounded: {what: `the tool ${name}`, remedy: 'leave it out'}}
    return GEMINI_CODE.some(each => Object.hasOwn(tool, each))
      ? {rounds: CODE_ROUNDS, tokens: 0, unbounded: null}
      : NOTHING
  }
  if (OF_CLIENT.test(type)) return NOTHING
  const what = `the tool ${type.slice(0, 64)}`
  const rounds = countIn(tool.max_uses) ?? most
  const set = (names: string): ToolReading => ({...NOTHING, unbounded: {what, remedy: `set ${names}, or leave it out`}})
  if (SEARCHES.test(type) || SANDBOXES.test(type))
    return rounds === null ? set('max_uses or max_tool_calls') : {rounds, tokens: SEARCHED_TOKENS, unbounded: null}
  if (FILES.test(type)) return rounds === null ? set('max_tool_calls') : {rounds, tokens: FILED_TOKENS, unbounded: null}
  if (ADVISES.test(type)) {
    const tokens = countIn(tool.max_tokens)
    return rounds === null || tokens === null ? set('max_tokens and max_uses') : {rounds, tokens, unbounded: null}
  }
  if (!FETCHES.test(type)) return {...NOTHING, unbounded: {what, remedy: 'leave it out'}}
  const tokens = countIn(tool.max_content_tokens)
  return rounds === null || tokens === null ? set('max_uses and max_content_tokens') : {rounds, tokens, unbounded: null}
}

function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false
  if (Array.isArray(value)) return value.length > 0
  return !(isObject(value) && value.mode === 'off')
}

function countIn(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}
