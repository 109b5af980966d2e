import {KeySets} from '../../../src/identity/jwt/key-sets.ts'
import {type OidcHttp, OidcProviders} from '../../../src/identity/oidc/provider.ts'
import {SignInFault} from '../../../src/identity/sign-in-fault.ts'
import {OIDC_DEFAULTS, type OidcSettings} from '../../../src/schema/connections.ts'

export const REDIRECT_URI = 'https://gateway.test/v2/auth/callback'

interface RelyingPartyOptions {
  /** The most that anything waits for an answer. @default what the module says */
  readonly most_ms?: number | undefined
  readonly http?: OidcHttp
  readonly refetch_min_interval_ms?: number
}

/** The module with clocks that tests move, and the requests that it made. */
export function relyingParty({most_ms = 60_000, http, refetch_min_interval_ms = 0}: RelyingPartyOptions = {}) {
  const clock = {now_ms: Date.now(), steady_ms: 0}
  const requests: {url: string; timeout_ms: number; max_bytes: number}[] = []
  const warnings: string[] = []
  const log = {warn: (_: object, text: string) => void warnings.push(text)} as never
  const passed: OidcHttp = async (url, init) => {
    requests.push({url, timeout_ms: init.timeout_ms, max_bytes: init.max_bytes})
    return (http ?? fetched)(url, {...init, timeout_ms: Math.min(init.timeout_ms, most_ms)})
  }
  const key_sets = new KeySets({
    fetch: async url => {
      const init = {method: 'GET', headers: {}, max_bytes: 1 << 20, timeout_ms: 5_000} as const
      const {status, text} = await passed(url, init)
      if (status !== 200) throw new Error(`status ${status}`)
      return {text, max_age_s: null}
    },
    steady: () => clock.steady_ms,
    refetch_min_interval_ms,
    log,
  })
  const providers = new OidcProviders({
    http: passed,
    key_sets,
    now_ms: () => clock.now_ms,
    steady_ms: () => clock.steady_ms,
    log,
  })
  return {providers, clock, requests, warnings}
}

export function oidcSettings(settings: Partial<OidcSettings>): OidcSettings {
  return {...OIDC_DEFAULTS, issuer: 'https://idp.example.test', client_id: 'gateway', ...settings} as OidcSettings
}

/** `accepted`, the reason of a refusal, or the fault itself where it is none. */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'accepted'
  } catch (fault) {
    return fault instanceof SignInFault ? fault.reason : `fault: ${String(fault)}`
  }
}

/** As the wall does it: bounded in bytes and in time, redirects are answers. */
export const fetched: OidcHttp = async (url, {max_bytes, timeout_ms, ...init}) => {
  const reply = await fetch(url, {...init, redirect: 'manual', signal: AbortSignal.timeout(timeout_ms)})
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of reply.body ?? []) {
    parts.push(part)
    length += part.length
    if (length > max_bytes) throw new Error(`more than ${max_bytes} bytes`)
  }
  return {
    status: reply.status,
    headers: Object.fromEntries(reply.headers),
    text: Buffer.concat(parts).toString('utf8'),
  }
}
