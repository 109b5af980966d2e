/** What a provider reports of its usage. Members that are missing are not reported. */
export interface Counts {
  readonly input?: number
  readonly output?: number
  readonly total?: number
}

/** One event of a stream, before it is known what it reports. */
export interface Step {
  /** The text that it brings; empty: none. */
  readonly text: string
  /**
   * `reason` tells why the answer ended, `end` is the last event, behind `late` nothing is read any more. An event of
   * `usage` is left out where there is none to report.
   */
  readonly place: 'begin' | 'text' | 'reason' | 'usage' | 'end' | 'other'
  /** A report may stand in it. */
  readonly carries: boolean
  /** Null: it tells that it reports nothing, in the words that have a way to. */
  bytes(response?: Counts | null): Buffer
}

/** The wire of a provider's answers to one operation: streams and whole answers. */
export interface WireFormat {
  readonly type: string
  steps(pieces: readonly string[]): readonly Step[]
  /** Where its vendor documents that usage stands: by the place of an event. */
  usual(steps: readonly Step[], bill: Bill): ReadonlyMap<number, Counts>
  /** A report behind the last event; null where a stream has no end of its own. */
  late(response: Counts): Buffer | null
  whole(text: string, response?: Counts): object
}

/** What a provider charges for a call. */
export interface Bill {
  readonly input: number
  readonly output: number
}

export const sse = (data: unknown, event?: string): Buffer =>
  Buffer.from(`${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
export const line = (data: object): Buffer => Buffer.from(`${JSON.stringify(data)}\n`)

/** An event that carries usage as a member of its object, under the names of its vendor. */
export function carrying(
  place: Step['place'],
  text: string,
  frame: (data: object) => Buffer,
  data: object,
  usageOf: (response: Counts) => object,
): Step {
  return {place, text, carries: true, bytes: response => frame(response ? {...data, ...usageOf(response)} : data)}
}

export function plain(place: Step['place'], text: string, bytes: Buffer): Step {
  return {place, text, carries: false, bytes: () => bytes}
}

/** At the last event that carries it. */
export function atTheLast(steps: readonly Step[], bill: Bill): ReadonlyMap<number, Counts> {
  return new Map([[steps.findLastIndex(({carries}) => carries), bill]])
}

/** Members without those that are not reported. */
export function reported(members: Record<string, number | undefined>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, number] => entry[1] !== undefined),
  )
}

export const openaiUsage = ({input, output, total}: Counts) => ({
  usage: reported({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total ?? (input === undefined || output === undefined ? undefined : input + output),
  }),
})
export const anthropicUsage = ({input, output}: Counts) => ({
  usage: reported({input_tokens: input, output_tokens: output}),
})
