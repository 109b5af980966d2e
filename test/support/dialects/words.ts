import type {Json} from '../../../src/providers/translation.ts'

/** An answer, whatever words it is told in. */
export interface Said {
  readonly thought?: string
  readonly text?: string
  readonly calls?: readonly CallSaid[]
  readonly finish: 'stop' | 'length' | 'tool_calls'
  readonly input_tokens: number
  readonly output_tokens: number
}

export interface CallSaid {
  readonly id: string
  readonly name: string
  readonly arguments: Json
}

/** One turn of what was asked, as a provider understands it. */
export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly thought: string
  readonly calls: readonly CallSaid[]
  /** Results of tools: the id of the call, what came of it. */
  readonly results: readonly (readonly [id: string, text: string])[]
}

/** A request as a provider understands it. */
export interface Understood {
  readonly system: string
  readonly turns: readonly Turn[]
  /** Names of the tools. */
  readonly tools: readonly string[]
  readonly thinks: boolean
  readonly max_tokens: number | null
}

/** The wire of one provider, from its own documentation and from nothing under test. */
export interface TwinWords {
  readonly kind: string
  /** Other words that are spoken there as well, at paths of their own. */
  readonly beside?: TwinWords
  /** Path of the base URL. */
  readonly base: string
  readonly model: string
  readonly auth: readonly [header: string, value: string]
  /** Headers that must be there besides. */
  readonly needs: Readonly<Record<string, string>>
  /** Whether answers tell thoughts, and take them back. */
  readonly thinks: boolean
  /** What signs a thought; null where thoughts are not signed. */
  readonly signature: string | null
  /** Path and query below the host. */
  path(is_stream: boolean): string
  /** Throws a sentence for what the provider would refuse. */
  read(body: Json, is_stream: boolean): Understood
  plain(said: Said): Json
  /** A stream, event by event, framed. */
  events(said: Said): readonly Buffer[]
  readonly stream_type: string
  /** A refusal of a status in the provider's own shape. */
  error(status: number, message: string): Json
}

export const PROVIDER_KEY = 'sk-upstream-secret-0123456789'

/** Refuses members that the provider does not know. */
export function onlyKnown(body: Json, known: string, place = 'body'): void {
  const names = known.trim().split(/\s+/)
  for (const name of Object.keys(body))
    if (!names.includes(name)) throw new Error(`${place} has an unknown member ${name}`)
}

export function check(holds: boolean, sentence: string): asserts holds {
  if (!holds) throw new Error(sentence)
}

export const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : [])
export const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
/** The texts of a string or of its parts. */
export const texts = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map(part => text(part.text))
        .join('')
/** A text in two pieces, as models write. */
export const halves = (whole: string): readonly string[] => {
  const middle = Math.ceil(whole.length / 2)
  return [whole.slice(0, middle), whole.slice(middle)]
}

export const sse = (data: unknown, event?: string): Buffer =>
  Buffer.from(`${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)

/** What a request says in OpenAI's `messages`, which Cohere and Mistral share but for the parts of contents. */
export function readMessages(messages: unknown): Pick<Understood, 'system' | 'turns'> {
  const system: string[] = []
  const turns: Turn[] = []
  for (const said of list(messages)) {
    const {role, content, tool_calls, tool_call_id, tool_plan} = said
    if (role === 'system' || role === 'developer') system.push(texts(content))
    else if (role === 'tool') {
      const result = [text(tool_call_id), texts(content)] as const
      const last = turns.at(-1)
      if (last && last.results.length > 0) turns[turns.length - 1] = {...last, results: [...last.results, result]}
      else turns.push({role: 'user', text: '', thought: '', calls: [], results: [result]})
    } else {
      check(role === 'user' || role === 'assistant', `an unknown role ${String(role)}`)
      const calls = list(tool_calls).map(call => {
        const {name, arguments: given} = object(call.function)
        check(
          call.type === 'function' && typeof given === 'string',
          'a tool call is not a function with arguments as a text',
        )
        return {id: text(call.id), name: text(name), arguments: JSON.parse(given) as Json}
      })
      turns.push({role, text: texts(content) || text(tool_plan), thought: thoughtIn(content), calls, results: []})
    }
  }
  return {system: system.join('\n'), turns}
}

function thoughtIn(content: unknown): string {
  return list(content)
    .map(part => (part.type === 'thinking' ? texts(part.thinking) : ''))
    .join('')
}
