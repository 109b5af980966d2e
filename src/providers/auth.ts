import type {Auth} from './provider.ts'

/** `name: prefix + key`, for a provider that needs a key. */
export function keyIn(name: string, prefix = ''): Auth {
  return {
    required: true,
    sign(headers, key) {
      if (key !== null) headers[name] = prefix + key
    },
  }
}

/** As most providers want it (RFC 6750). */
export const bearer = keyIn('authorization', 'Bearer ')

/** The same where a key is not needed: engines of one's own. */
export function optional(auth: Auth): Auth {
  return {...auth, required: false}
}
