import type {SaidField} from './facts.ts'

/** What is at a field of a reply, wherever the lists on the way have it. */
export interface Found {
  readonly path: string
  readonly value: unknown
}

/** The ways in which replies differ from what is said of a field; empty where they do not. */
export function differences({name, type, words}: SaidField, replies: readonly unknown[]): string[] {
  const found = replies.flatMap(reply => valuesAt(reply, name))
  if (!found.length) return ['absent']
  return [...new Set(found.flatMap(({value}) => (fits(value, type, words) ? [] : [kindOf(value, type)])))]
}

/** Every value at `data[].id` and the like; nothing where a part of the way is absent or null. */
export function valuesAt(reply: unknown, name: string): Found[] {
  let nodes: Found[] = [{path: '', value: reply}]
  for (const step of name.split('.').flatMap(part => part.split(/(?=\[\])/).filter(Boolean))) {
    nodes = nodes.flatMap(({path, value}) => {
      if (step === '[]')
        return Array.isArray(value) ? value.map((item, at) => ({path: `${path}[${at}]`, value: item})) : []
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return []
      return [{path: path ? `${path}.${step}` : step, value: (value as Record<string, unknown>)[step]}]
    })
  }
  return nodes
}

function fits(value: unknown, type: string, words: readonly string[] | null): boolean {
  return alternatives(type).some(each => {
    if (each === 'null') return value === null
    const of = /^array<(.*)>(?:\[\])?$/.exec(each)?.[1]
    if (of !== undefined) return Array.isArray(value) && value.every(item => fits(item, of, words))
    return isPlain(value, each) && (words === null || typeof value !== 'string' || words.includes(value))
  })
}

/** `string or string|array<object> or string|null` has four, of which one is there thrice. */
function alternatives(type: string): string[] {
  const parts = type.split(' or ').flatMap(part => {
    const found: string[] = []
    let depth = 0
    let word = ''
    for (const letter of part) {
      if (letter === '<') depth++
      if (letter === '>') depth--
      if (letter === '|' && depth === 0) {
        found.push(word)
        word = ''
      } else word += letter
    }
    return [...found, word]
  })
  return [...new Set(parts)]
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/

function isPlain(value: unknown, type: string): boolean {
  const [, plain = type, format] = /^(\w+)\((.+)\)$/.exec(type) ?? []
  if (plain === 'any') return value !== undefined
  if (plain === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  if (plain === 'integer') return Number.isInteger(value)
  if (plain !== 'string') return typeof value === plain
  if (typeof value !== 'string') return false
  if (format === 'uuid' || format === 'UUID') return UUID.test(value)
  if (format === 'date-time') return TIME.test(value)
  if (format === 'uri') return URL.canParse(value)
  if (format === 'email') return /^[^@\s]+@[^@\s]+$/.test(value)
  return true
}

/** What stands there in the place of what should. */
function kindOf(value: unknown, type: string): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'string')
    return type.startsWith('string(') ? 'another text' : type.startsWith('string') ? 'another word' : 'string'
  return typeof value === 'number' && !Number.isInteger(value) ? 'fraction' : typeof value
}
