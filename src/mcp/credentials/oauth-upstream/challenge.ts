import type {HeaderFields} from '../../wire/header-values.ts'

/** The part of a refusal that leads to a sign-in (RFC 9728 §5.1). */
export interface SignInChallenge {
  readonly resource_metadata: string | null
  readonly scope: string | null
}

const LONGEST = 16_384
/** A token, or a quoted text, after a name; or a token alone, which begins a challenge (RFC 9110 §11.3). */
const PART = /[\t ,]*([\w!#$%&'*+.^`|~-]+)(?:[\t ]*=[\t ]*(?:"((?:[^"\\]|\\.)*)"|([^\t ,"]*)))?/y

/** The challenge for bearer tokens in `WWW-Authenticate`, wherever it is among others; null where there is none. */
export function bearerChallenge(header: string | readonly string[] | null | undefined): SignInChallenge | null {
  const text = (typeof header === 'string' ? header : (header ?? []).join(', ')).slice(0, LONGEST)
  let scheme: string | null = null
  const params = new Map<string, string>()
  PART.lastIndex = 0
  for (let part = PART.exec(text); part !== null; part = PART.exec(text)) {
    const [whole, name = '', quoted, plain] = part
    if (quoted === undefined && plain === undefined) {
      if (scheme === 'bearer' && params.size > 0) break
      scheme = name.toLowerCase()
    } else if (scheme === 'bearer' && !params.has(name.toLowerCase()))
      params.set(name.toLowerCase(), quoted === undefined ? plain! : quoted.replace(/\\(.)/g, '$1'))
    if (whole === '') break
  }
  if (scheme !== 'bearer' && params.size === 0) return null
  return {resource_metadata: params.get('resource_metadata') || null, scope: params.get('scope') || null}
}

/** The same of a reply. */
export function challengeIn(headers: HeaderFields): SignInChallenge | null {
  return bearerChallenge(headers['www-authenticate'])
}
