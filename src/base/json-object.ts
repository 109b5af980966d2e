import {isTooDeep, MAX_JSON_DEPTH} from './json-shape.ts'

/**
 * Reads JSON of which nothing is known yet. Each function takes any value, and answers with a usual one where it is of
 * another kind.
 */

const NOTHING: Readonly<Record<string, unknown>> = Object.freeze({})

/** An object of JSON: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `value` where it is an object, else one without members. */
export function object(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : NOTHING
}

/** `value` where it is a list, else an empty one. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** JSON that is nested deeper than anything of ours walks. */
export class TooDeepFault extends SyntaxError {
  constructor() {
    super(`it is nested deeper than the ${MAX_JSON_DEPTH} levels that are read`)
  }
}

/** `JSON.parse` for what others wrote: whatever walks its value may do so by calling itself. Throws a `SyntaxError`. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new TooDeepFault()
  return JSON.parse(text)
}

/** The value of `text`; undefined when it is not JSON, or nested too deep. */
export function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** The object that `text` says; undefined when it is not JSON, nested too deep, or of another kind. */
export function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parsed(text)
  return isObject(value) ? value : undefined
}
