/** Reads JSON of which nothing is known yet. Each function takes any value, and answers with a usual one where it is of another kind. */

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

/** What `text` says; undefined when it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The object that `text` says; undefined when it is not JSON, or JSON of another kind. */
export function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parsed(text)
  return isObject(value) ? value : undefined
}
