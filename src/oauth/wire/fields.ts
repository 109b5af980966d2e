import {isObject} from '../../base/json-object.ts'
import {OAuthFault} from './fault.ts'

const LONGEST = 4096

/** The parameters of a query or a form: each a text of bounded length that comes once, or absent. */
export interface OAuthFields {
  /** Undefined where it is absent or empty. */
  text(name: string): string | undefined
  /** The same; refuses with its name where it is absent. */
  required(name: string): string
}

/** Reads parameters. One that comes twice is refused when it is read: parties would differ in which of them counts. */
export function oauthFields(input: unknown): OAuthFields {
  const given = isObject(input) ? input : {}
  const text = (name: string) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined || value === null || value === '') return undefined
    if (Array.isArray(value)) throw invalid(name, 'must come once')
    if (typeof value !== 'string') throw invalid(name, 'must be a text')
    if (value.length > LONGEST) throw invalid(name, `must be at most ${LONGEST} characters`)
    if (value.includes('\0')) throw invalid(name, 'must hold no NUL character')
    return value
  }
  return {
    text,
    required(name) {
      const value = text(name)
      if (value === undefined) throw invalid(name, 'is required')
      return value
    },
  }
}

function invalid(name: string, must: string): OAuthFault {
  return new OAuthFault('invalid_request', `${name}: ${must}.`)
}
