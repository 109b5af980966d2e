/** Names and forms of the cookies that the gateway sets in browsers (RFC 6265bis). */
export interface CookieJar {
  readonly session: string
  /** Of one sign-in; several tabs have one each. */
  login(tail: string): string
  /** A `set-cookie` header. Without `max_age_s` the browser forgets it with its window; 0 takes it out. */
  set(name: string, value: string, max_age_s?: number): string
}

/** `is_secure` is SESSION_COOKIE_SECURE: `__Host-` binds a cookie to this host, this path and TLS. */
export function cookieJar(is_secure: boolean): CookieJar {
  const prefix = is_secure ? '__Host-' : ''
  const attributes = `Path=/;${is_secure ? ' Secure;' : ''} HttpOnly; SameSite=Lax`
  return {
    session: `${prefix}gateway_session`,
    login: tail => `${prefix}gateway_login-${tail}`,
    set: (name, value, max_age_s) =>
      `${name}=${value}; ${attributes}${max_age_s === undefined ? '' : `; Max-Age=${max_age_s}`}`,
  }
}

const LONGEST = 16_384
const MOST = 100

/** The value of a cookie that the browser sent. Of two of one name neither counts: one of them is not ours. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  if (header === undefined || header.length > LONGEST) return undefined
  const values = header
    .split(';', MOST)
    .map(each => each.trim())
    .filter(each => each.startsWith(`${name}=`))
    .map(each => each.slice(name.length + 1))
  return values.length === 1 ? values[0] : undefined
}
