/** A JSON text that is made to hurt, and what reading it costs anybody. */
export interface Shape {
  readonly name: string
  readonly is_long: boolean
  readonly json: string
  /** Milliseconds of `JSON.parse` and, of what it gives, `JSON.stringify`; where the stack bears it. */
  readonly parse_ms: number
  readonly write_ms: number
}

const nested = (levels: number, open: string, within: string, close: string) =>
  open.repeat(levels) + within + close.repeat(levels)
const DEPTHS = [10, 100, 10_000]
/** Words that readers go down by. */
const DOWN = [
  'a',
  'msg',
  'message',
  'error',
  'errors',
  'detail',
  'content',
  'text',
  'thinking',
  'usage',
  'parts',
  'delta',
  'logprobs',
  'index',
]
const WIDE = 100_000
const LONG = 1_000_000

const texts: Readonly<Record<string, string>> = Object.fromEntries([
  ...DEPTHS.map(levels => [`${levels} lists`, nested(levels, '[', '1', ']')]),
  ...DEPTHS.flatMap(levels => DOWN.map(key => [`${levels} of ${key}`, nested(levels, `{"${key}":`, '"x"', '}')])),
  ...DEPTHS.flatMap(levels =>
    ['content', 'errors', 'parts', 'delta'].map(key => [
      `${levels} lists of ${key}`,
      nested(levels, `{"${key}":[`, '"x"', ']}'),
    ]),
  ),
  ...DEPTHS.map(levels => [`${levels} pairs`, nested(levels, '{"message":"x","msg":', '""', '}')]),
  ['wide list', `[${'1,'.repeat(WIDE)}1]`],
  ['wide list of texts', `[${'"ab",'.repeat(WIDE)}"ab"]`],
  ['wide list of many texts', `[${Array.from({length: WIDE}, (_, at) => `"k${at}"`).join(',')}]`],
  ['wide list of objects', `[${'{"type":"text","text":"a"},'.repeat(WIDE)}{}]`],
  ['wide list of lists', `[${'[],'.repeat(WIDE)}[]]`],
  ['wide object', `{${Array.from({length: WIDE}, (_, at) => `"k${at}":1`).join(',')}}`],
  ['repeated keys', `{${'"message":{"msg":"x"},'.repeat(WIDE / 2)}"message":"y"}`],
  ['repeated usage', `{${'"usage":{"prompt_tokens":1},'.repeat(WIDE / 2)}"usage":null}`],
  ['long text', JSON.stringify('word '.repeat(LONG / 5))],
  ['long text of quotes', JSON.stringify('"'.repeat(LONG / 2))],
  ['long text of brackets', JSON.stringify('[{"'.repeat(LONG / 4))],
  ['long text of JSON', JSON.stringify(`{"a":[${'{"b":"c"},'.repeat(LONG / 12)}1]}`)],
  ['long number', '9'.repeat(LONG)],
])

export const SHAPES: readonly Shape[] = Object.entries(texts).map(([name, json]) => {
  const value: unknown = JSON.parse(json)
  return {
    name,
    json,
    is_long: json.length > 50_000,
    parse_ms: quickest(() => JSON.parse(json)),
    write_ms: name.startsWith('10000 ') ? 0 : quickest(() => JSON.stringify(value)),
  }
})

/**
 * Milliseconds of this thread's processor in the quickest of three rounds: what it would hold an event loop with
 * nothing beside it.
 */
export function quickest(work: () => unknown, enough_ms = 0): number {
  let least_ms = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3 && least_ms > enough_ms; round++) {
    const began = process.threadCpuUsage()
    work()
    const {user, system} = process.threadCpuUsage(began)
    least_ms = Math.min(least_ms, (user + system) / 1000)
  }
  return least_ms
}
