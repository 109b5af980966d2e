import type {Json} from '../../../src/providers/translation.ts'
import type {Random} from '../strict-reservations/random.ts'

/** A part of what the user says, or of what a tool gives. */
export type SaidPart =
  | {readonly kind: 'text'; readonly text: string}
  | {readonly kind: 'picture'; readonly type: string}
  | {readonly kind: 'picture on the web'}
  | {readonly kind: 'file'; readonly type: string; readonly name: string}
  | {readonly kind: 'file on the web'}

export interface MadeCall {
  readonly id: string
  readonly name: string
  readonly input: Json
}

export type SaidTurn =
  | {readonly by: 'system' | 'developer'; readonly text: string}
  | {readonly by: 'user'; readonly parts: readonly SaidPart[]; readonly name?: string}
  | {readonly by: 'assistant'; readonly text: string; readonly calls: readonly MadeCall[]}
  | {readonly by: 'tool'; readonly id: string; readonly parts: readonly SaidPart[]; readonly is_error: boolean}

export interface OfferedTool {
  readonly name: string
  readonly description: string
  readonly schema: Json | undefined
  readonly strict: boolean | undefined
}

/** A request in no dialect yet. */
export interface History {
  readonly turns: readonly SaidTurn[]
  readonly tools: readonly OfferedTool[]
  readonly choice: 'auto' | 'none' | 'required' | {readonly name: string} | undefined
  readonly stop: readonly string[]
  readonly format: {readonly schema: Json; readonly strict: boolean} | 'json_object' | undefined
  readonly temperature: number | undefined
  readonly top_p: number | undefined
  readonly penalty: number | undefined
  readonly max_tokens: number
  readonly effort: string | undefined
  readonly budget: number | undefined
  readonly parallel: boolean | undefined
  readonly stream: boolean
  /** The texts that must not be lost: each is found nowhere else. */
  readonly marks: readonly string[]
}

const NAMES = ['read', 'write', 'list_files', 'mcp__repo__search', 'a-b'] as const
const ODD_NAMES = ['files.read', 'read file', `long_${'x'.repeat(70)}`, '9lives'] as const
const STOPS = ['END', '\n', '', '  ', '###', 'Human:', '</a>', 'STOP'] as const
const PICTURES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/svg+xml', 'image/bmp'] as const
const FILES = [
  ['application/pdf', 'report 1.pdf'],
  ['application/pdf', 'report  (2).pdf'],
  ['text/plain', 'notes.txt'],
  ['application/zip', 'all.zip'],
] as const
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high'] as const

/** Schemas of functions and answers, plain ones first. */
const SCHEMAS: readonly Json[] = [
  {type: 'object', properties: {path: {type: 'string'}}, required: ['path'], additionalProperties: false},
  {
    type: 'object',
    properties: {path: {type: 'string', description: 'A path.'}, n: {type: 'integer', minimum: 1, maximum: 10}},
  },
  {type: 'object', properties: {}},
  {},
  {properties: {a: {type: 'string', minLength: 2, pattern: '^a', format: 'uri'}}},
  {type: 'object', properties: {a: {type: 'array', items: {type: 'object', properties: {}}, minItems: 2, maxItems: 5}}},
  {
    type: 'object',
    properties: {a: {type: 'array'}, b: {enum: ['x', '', 'y']}, c: {enum: [1, 2, null]}, d: {const: 'z'}},
  },
  {
    type: 'object',
    properties: {a: {anyOf: [{type: 'string'}, {type: 'null'}]}, b: {type: ['integer', 'null'], multipleOf: 2}},
  },
  {
    type: 'object',
    properties: {a: {$ref: '#/$defs/a'}},
    $defs: {a: {type: 'object', properties: {b: {type: 'string'}}}},
  },
  {
    type: 'object',
    properties: {
      a: {
        oneOf: [
          {type: 'string', format: 'date'},
          {type: 'number', format: 'double'},
        ],
      },
    },
    required: ['b'],
  },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {a: {type: 'string', default: 'x'}},
  },
  {type: 'object', properties: {a: {allOf: [{type: 'object', properties: {b: {type: 'string'}}}, {required: ['b']}]}}},
  {type: 'object', properties: {a: {enum: [{b: 1}, {b: 2}]}}, additionalProperties: {type: 'string'}},
]
const ODD_SCHEMAS: readonly Json[] = [
  {type: 'object', anyOf: [{properties: {a: {type: 'string'}}, required: ['a']}, {properties: {b: {type: 'string'}}}]},
  {
    type: 'object',
    properties: {node: {$ref: '#/$defs/node'}},
    $defs: {node: {type: 'object', properties: {next: {$ref: '#/$defs/node'}}}},
  },
  {type: 'object', properties: {'filters[]': {type: 'string'}}},
  {type: 'string'},
]

/** Makes histories: most of them plain, each with a few odd things. */
export function historyOf(random: Random): History {
  const marks: string[] = []
  const text = (share_of_empty = 0.08): string => {
    if (random.chance(share_of_empty)) return random.of(['', ' ', '\n'])
    const mark = `m${marks.length}q${random.below(1e6)}z`
    marks.push(mark)
    const [before, behind] = [random.chance(0.1) ? ' ' : '', random.chance(0.1) ? ' \n' : '']
    return `${before}${mark} ${random.of(['hello', 'ÄÖÜ ☃', 'line\nline', '"quoted"'])}${behind}`
  }
  const tools = toolsOf(random)
  const turns = turnsOf(random, tools, text, marks)
  return {
    turns,
    tools,
    choice: choiceOf(random, tools),
    stop: random.chance(0.3) ? random.many(1 + random.below(6), () => random.of(STOPS)) : [],
    format: formatOf(random, tools),
    temperature: random.chance(0.4) ? random.of([0, 0.3, 1, 1.8]) : undefined,
    top_p: random.chance(0.2) ? random.of([0.1, 0.97, 1]) : undefined,
    penalty: random.chance(0.1) ? random.of([-1, 0.5, 2]) : undefined,
    max_tokens: random.of([256, 1024, 1025, 8192]),
    effort: random.chance(0.15) ? random.of(EFFORTS) : undefined,
    budget: random.chance(0.1) ? random.of([512, 1024, 4096]) : undefined,
    parallel: random.chance(0.15) ? false : undefined,
    stream: random.chance(0.5),
    marks,
  }
}

function toolsOf(random: Random): readonly OfferedTool[] {
  if (random.chance(0.4)) return []
  const names = NAMES.slice(0, 1 + random.below(NAMES.length))
  return names.map((name, at) => ({
    name: at === 0 && random.chance(0.03) ? random.of(ODD_NAMES) : random.chance(0.01) ? NAMES[0] : name,
    description: random.chance(0.8) ? 'Does it.' : '',
    schema: random.chance(0.1) ? undefined : random.chance(0.03) ? random.of(ODD_SCHEMAS) : random.of(SCHEMAS),
    strict: random.chance(0.15) ? random.chance(0.5) : undefined,
  }))
}

function choiceOf(random: Random, tools: readonly OfferedTool[]): History['choice'] {
  if (tools.length === 0) return random.chance(0.02) ? random.of(['auto', 'none', 'required'] as const) : undefined
  const name = random.chance(0.05) ? 'nowhere' : random.of(tools).name
  return random.of([undefined, undefined, undefined, 'auto', 'none', 'required', {name}] as const)
}

function formatOf(random: Random, tools: readonly OfferedTool[]): History['format'] {
  if (!random.chance(tools.length > 0 ? 0.08 : 0.3)) return undefined
  if (random.chance(0.25)) return 'json_object'
  const schema = random.chance(0.05) ? random.of(ODD_SCHEMAS.slice(0, 2)) : random.of(SCHEMAS)
  return {schema: {type: 'object', ...schema}, strict: random.chance(0.5)}
}

function turnsOf(
  random: Random,
  tools: readonly OfferedTool[],
  text: (empty?: number) => string,
  marks: string[],
): SaidTurn[] {
  const turns: SaidTurn[] = []
  const called = tools.length > 0 || random.chance(0.2)
  if (random.chance(0.6)) turns.push({by: random.of(['system', 'developer'] as const), text: text()})
  const count = 2 + random.below(11)
  let is_user = !random.chance(0.1)
  while (turns.length < count) {
    if (random.chance(0.04)) turns.push({by: 'system', text: text()})
    if (is_user) turns.push({by: 'user', parts: partsOf(random, text), ...(random.chance(0.05) ? {name: 'Ann'} : {})})
    else {
      const calls = called && random.chance(0.5) ? callsOf(random, tools, marks) : []
      turns.push({by: 'assistant', text: text(calls.length > 0 ? 0.5 : 0.08), calls})
      for (const turn of resultsOf(random, calls, text)) turns.push(turn)
    }
    is_user = random.chance(0.1) ? is_user : !is_user
  }
  return turns
}

function callsOf(random: Random, tools: readonly OfferedTool[], marks: string[]): readonly MadeCall[] {
  return random.many(1 + random.below(3), at => {
    const mark = `c${marks.length}q${random.below(1e6)}z`
    marks.push(mark)
    const n = random.below(1e6)
    return {
      id: random.of([`call_${n}`, `toolu_${n}`, `functions.read:${at}`, `call_${at}`, `${n}${'f'.repeat(50)}`]),
      name: random.chance(0.02) ? random.of(ODD_NAMES) : tools.length > 0 ? random.of(tools).name : random.of(NAMES),
      input: {path: mark},
    }
  })
}

/** Results of calls: in order or not, now or after the user; seldom one is missing, or one too many. */
function resultsOf(random: Random, calls: readonly MadeCall[], text: (empty?: number) => string): readonly SaidTurn[] {
  if (calls.length === 0 && !random.chance(0.005)) return []
  const ids = calls.length === 0 ? ['call_nowhere'] : calls.map(({id}) => id)
  const kept = random.chance(0.03) ? ids.slice(1) : random.chance(0.3) ? ids.toReversed() : ids
  const results = kept.map((id): SaidTurn => {
    const parts: SaidPart[] = [{kind: 'text', text: text(0.15)}]
    if (random.chance(0.05)) parts.push({kind: 'picture', type: random.of(PICTURES.slice(0, 3))})
    return {by: 'tool', id, parts, is_error: random.chance(0.1)}
  })
  const late: SaidTurn[] = random.chance(0.05) ? [{by: 'user', parts: [{kind: 'text', text: text(0)}]}] : []
  return random.chance(0.5) ? [...late, ...results] : [...results.slice(0, 1), ...late, ...results.slice(1)]
}

function partsOf(random: Random, text: (empty?: number) => string): readonly SaidPart[] {
  const parts: SaidPart[] = random.chance(0.03) ? [] : [{kind: 'text', text: text()}]
  if (random.chance(0.1)) parts.push({kind: 'text', text: text()})
  if (random.chance(0.1))
    parts.push({kind: 'picture', type: random.chance(0.1) ? random.of(PICTURES) : random.of(PICTURES.slice(0, 3))})
  if (random.chance(0.03)) parts.push({kind: random.of(['picture on the web', 'file on the web'] as const)})
  if (random.chance(0.06)) {
    const [type, name] = random.chance(0.1) ? random.of(FILES) : FILES[random.below(3)]!
    parts.push({kind: 'file', type, name})
  }
  return parts.length > 0 ? parts : [{kind: 'text', text: text(0)}]
}
