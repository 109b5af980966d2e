import {Refusal} from '../base/errors.ts'

/** The fields of a body or a query, read one by one: a text of bounded length, or absent. */
export interface Fields {
  text(name: string, most?: number): string | undefined
  /** The same; refuses with its name where it is absent or empty. */
  required(name: string, most?: number): string
}

const MOST = 2048

export function fieldsOf(input: unknown): Fields {
  const given = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
  const text = (name: string, most = MOST) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value !== 'string') throw invalid(name, 'must be a text')
    if (value.length > most) throw invalid(name, `must be at most ${most} characters`)
    return value
  }
  return {
    text,
    required(name, most) {
      const value = text(name, most)
      if (value === undefined) throw invalid(name, 'is required')
      return value
    },
  }
}

function invalid(name: string, must: string): Refusal {
  return new Refusal('body.invalid', {issues: `${name}: ${must}.`})
}
