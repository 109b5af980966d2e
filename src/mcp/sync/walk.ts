import type {JsonObject} from '../../base/json-member.ts'
import {isObject, own} from '../../base/json-member.ts'
import {LISTS, type ListMethod} from '../content/entries.ts'
import {checkedCursor, checkedList} from '../content/lists.ts'
import type {McpUpstream, RequestSink} from '../upstream/upstream.ts'
import {McpFault, printable} from '../wire/faults.ts'

/** Reads what an upstream offers: its lists, page by page. Nothing else is sent to it, and no tool is called. */

export interface WalkLimits {
  readonly most_capabilities: number
  readonly most_bytes: number
  readonly most_pages: number
}

export const WALK_LIMITS: WalkLimits = {most_capabilities: 5_000, most_bytes: 2 * 2 ** 20, most_pages: 200}

/** A list that was read to its end, or the reason why it was not. */
export type WalkedList =
  | {readonly entries: readonly JsonObject[]; readonly fault: null}
  | {readonly entries: null; readonly fault: string}

export interface Walked {
  readonly lists: Readonly<Record<ListMethod, WalkedList>>
  /** Sentences about what was left out; bounded. */
  readonly warnings: readonly string[]
}

export interface WalkOptions {
  /** Aborted at the deadline of the whole sync. */
  readonly signal: AbortSignal
  /** For each request. */
  readonly timeout_ms: number
  readonly limits?: WalkLimits
}

const METHOD_UNKNOWN = -32601
const MOST_WARNINGS = 20

/** Declares that it answers questions, so that a server shows all that it has; each question is declined. */
export const SYNC_CLIENT = {
  client_info: '{"name":"gateway","version":"1"}',
  client_capabilities: JSON.stringify({
    elicitation: {form: {}, url: {}},
    sampling: {},
    roots: {listChanged: true},
    extensions: {'io.modelcontextprotocol/ui': {mimeTypes: ['text/html;profile=mcp-app']}},
  }),
} as const

/**
 * All four lists of an upstream. One that fails says why, and leaves the others alone; a list that the upstream does
 * not declare, or does not know, is empty. Rejects where the conversation as a whole failed.
 */
export async function walk(upstream: McpUpstream, options: WalkOptions): Promise<Walked> {
  const walker = new Walker(upstream, options)
  const tools = await walker.list('tools/list')
  const prompts = await walker.list('prompts/list')
  const resources = await walker.list('resources/list')
  const templates = await walker.list('resources/templates/list')
  return {
    lists: {
      'tools/list': tools,
      'prompts/list': prompts,
      'resources/list': resources,
      'resources/templates/list': templates,
    },
    warnings: walker.warnings,
  }
}

/** The capability that a server declares for its lists. Some serve tools without a word. */
const DECLARED: Readonly<Record<ListMethod, string | null>> = {
  'tools/list': null,
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
}

class Walker {
  readonly warnings: string[] = []
  readonly #upstream: McpUpstream
  readonly #options: WalkOptions
  readonly #limits: WalkLimits
  #count = 0
  #bytes = 0

  constructor(upstream: McpUpstream, options: WalkOptions) {
    this.#upstream = upstream
    this.#options = options
    this.#limits = options.limits ?? WALK_LIMITS
  }

  async list(method: ListMethod): Promise<WalkedList> {
    const declared = DECLARED[method]
    if (declared !== null && !isObject(own(this.#upstream.hello.capabilities, declared)))
      return {entries: [], fault: null}
    try {
      return {entries: await this.#pages(method), fault: null}
    } catch (fault) {
      if (!(fault instanceof ListFault)) throw fault
      return {entries: null, fault: printable(`${method}: ${fault.message}`)}
    }
  }

  async #pages(method: ListMethod): Promise<JsonObject[]> {
    const entries: JsonObject[] = []
    const keys = new Set<string>()
    const cursors = new Set<string>()
    let cursor: string | undefined
    for (let page = 1; ; page++) {
      if (page > this.#limits.most_pages)
        throw new ListFault(`it has more than the ${this.#limits.most_pages} pages that are read`)
      const result = await this.#page(method, cursor)
      if (result === null) return entries
      for (const each of this.#entries(method, result, keys)) entries.push(each)
      const {next, warning} = checkedCursor(result, cursor)
      if (warning !== null) this.#warn(`${method}: ${warning}`)
      if (next === null) return entries
      if (cursors.has(next)) {
        this.#warn(`${method}: nextCursor leads back to a page that was read`)
        return entries
      }
      cursors.add(next)
      cursor = next
    }
  }

  /** One page; null where the method is unknown to the upstream. */
  async #page(method: ListMethod, cursor: string | undefined): Promise<JsonObject | null> {
    const {signal, timeout_ms} = this.#options
    const params = cursor === undefined ? undefined : JSON.stringify({cursor})
    const times = {signal, total_ms: timeout_ms, idle_ms: timeout_ms}
    let answer: Awaited<ReturnType<McpUpstream['request']>>
    try {
      answer = await this.#upstream.request({method, params}, this.#sink(), times)
    } catch (fault) {
      if (fault instanceof McpFault && fault.reason === 'result_too_large') throw new ListFault(fault.message)
      throw fault
    }
    this.#bytes += Buffer.byteLength(answer.text)
    if (this.#bytes > this.#limits.most_bytes)
      throw new ListFault(`the lists are larger than the ${this.#limits.most_bytes} bytes that are read`)
    if (answer.result) return answer.result
    if (answer.error?.code === METHOD_UNKNOWN) return null
    throw new ListFault(`the error ${answer.error?.code}: ${answer.error?.message ?? ''}`)
  }

  #entries(method: ListMethod, result: JsonObject, keys: Set<string>): JsonObject[] {
    const {era} = this.#upstream.hello
    const {listed, left_out} = this.#checked(method, result, {client: era, upstream: era}, keys)
    const kind = LISTS[method].member
    for (const {key, reason} of left_out) this.#warn(`${method}: an entry of ${kind} (${key ?? '?'}): ${reason}`)
    this.#count += listed.length
    if (this.#count > this.#limits.most_capabilities)
      throw new ListFault(`it has more than the ${this.#limits.most_capabilities} capabilities that are read`)
    return listed.map(({entry}) => entry)
  }

  #checked(...of: Parameters<typeof checkedList>) {
    try {
      return checkedList(...of)
    } catch (fault) {
      throw fault instanceof McpFault ? new ListFault('its answer has no list') : fault
    }
  }

  /** Declines each question. Kinds that were not declared are refused below already. */
  #sink(): RequestSink {
    return {
      notification: () => undefined,
      question: ({id, method}) => {
        const answer =
          method === 'elicitation/create'
            ? {result: '{"action":"decline"}'}
            : {error: `{"code":${METHOD_UNKNOWN},"message":"Method not found"}`}
        this.#upstream.answer(id, answer).catch(() => undefined)
      },
    }
  }

  #warn(sentence: string) {
    if (this.warnings.length < MOST_WARNINGS) this.warnings.push(printable(sentence))
  }
}

/** A list that cannot be read, in an upstream that can be spoken to. */
class ListFault extends Error {}
