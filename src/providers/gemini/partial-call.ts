import {isObject, list, object} from '../../base/json-object.ts'
import {InvalidResponseFault, type Json} from '../translation.ts'
import {word} from './read.ts'

const MAX_DEPTH = 64
const MAX_ITEMS = 10_000
const MAX_CHARS = 4 << 20
/** One step of a path (RFC 9535): `.name`, `['name']`, `["name"]` or `[0]`. */
const STEP = /\.([^.[\]]+)|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\d+))\]/y

type Holder = Record<string, unknown> | unknown[]

/**
 * A call whose arguments come in pieces: each names its place and a value, or the next part of a text there. Source:
 * Vertex AI, function calling, `streamFunctionCallArguments`. The call is whole with the piece that does not say
 * `willContinue`.
 */
export class PartialCall {
  readonly name: string
  readonly id: string | null
  readonly signature: string | null
  readonly #args: Record<string, unknown> = Object.create(null)
  #chars = 0

  constructor(call: unknown, signature: string | null) {
    const {name, id} = object(call)
    if (typeof name !== 'string' || name === '') throw new InvalidResponseFault('a function call has no name')
    this.name = name
    this.id = word(id)
    this.signature = signature
  }

  get args(): Json {
    return this.#args
  }

  /** Takes the next piece. Throws `InvalidResponseFault` for one that has no place. */
  add(fragment: unknown) {
    const {args, partialArgs} = object(fragment)
    if (isObject(args)) Object.assign(this.#args, args)
    for (const piece of list(partialArgs)) this.#put(object(piece))
  }

  #put(piece: Json) {
    const steps = stepsIn(piece.jsonPath)
    const last = steps.pop()!
    let holder: Holder = this.#args
    for (const [at, step] of steps.entries()) {
      const next = valueAt(holder, step)
      const is_list = typeof (steps[at + 1] ?? last) === 'number'
      holder = isHolder(next)
        ? next
        : set(holder, step, is_list ? [] : (Object.create(null) as Record<string, unknown>))
    }
    const {stringValue, numberValue, boolValue, nullValue} = piece
    if (typeof stringValue === 'string') {
      this.#chars += stringValue.length
      if (this.#chars > MAX_CHARS) throw new InvalidResponseFault('the arguments of a function call are too long')
      const before = valueAt(holder, last)
      set(holder, last, typeof before === 'string' ? before + stringValue : stringValue)
    } else if (typeof numberValue === 'number' || typeof boolValue === 'boolean')
      set(holder, last, numberValue ?? boolValue)
    else if (nullValue !== undefined) set(holder, last, null)
  }
}

/** True for a call that comes in pieces. */
export function isPartial(call: unknown): boolean {
  const {partialArgs, willContinue} = object(call)
  return willContinue === true || partialArgs !== undefined
}

function stepsIn(path: unknown): (string | number)[] {
  const steps: (string | number)[] = []
  if (typeof path !== 'string' || path[0] !== '$') throw new InvalidResponseFault('a piece of arguments has no place')
  STEP.lastIndex = 1
  while (STEP.lastIndex < path.length) {
    const step = STEP.exec(path)
    if (!step || steps.length === MAX_DEPTH) throw new InvalidResponseFault('a piece of arguments has no place')
    const [, name, single, double, index] = step
    steps.push(index === undefined ? (name ?? (single ?? double)!.replace(/\\(.)/g, '$1')) : Number(index))
  }
  if (steps.length === 0) throw new InvalidResponseFault('a piece of arguments has no place')
  return steps
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null
}

function valueAt(holder: Holder, step: string | number): unknown {
  if (Array.isArray(holder) !== (typeof step === 'number'))
    throw new InvalidResponseFault('a piece of arguments has another place than the pieces before')
  return Object.hasOwn(holder, step) ? holder[step as keyof Holder] : undefined
}

/** Lists grow in order, however large a place is named. */
function set<T>(holder: Holder, step: string | number, value: T): T {
  if (!Array.isArray(holder)) holder[step as string] = value
  else if (typeof step !== 'number' || step > holder.length || step >= MAX_ITEMS)
    throw new InvalidResponseFault('a piece of arguments has no place')
  else holder[step] = value
  return value
}
