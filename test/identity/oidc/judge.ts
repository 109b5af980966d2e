import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import type {SignInReason} from '../../../src/identity/sign-in-fault.ts'
import type {Statement} from '../../../src/identity/statement.ts'
import type {OidcSettings} from '../../../src/schema/connections.ts'
import {type Lies, type LyingProvider, RawReply, startLyingProvider} from './lying-provider.ts'
import {oidcSettings, outcomeOf, REDIRECT_URI, relyingParty} from './relying-party.ts'

export type HostileCase = readonly [
  name: string,
  reason: SignInReason | 'accepted',
  lies: () => Lies,
  settings?: Partial<OidcSettings>,
  /** The most that the sign-in waits for an answer. @default as long as the module does */
  most_ms?: number,
]

export const REQUEST = {
  redirect_uri: REDIRECT_URI,
  state: 'state',
  nonce: 'nonce-of-this-sign-in',
  code_verifier: 'verifier-that-is-at-least-43-characters-long',
  login_hint: null,
  custom_scopes: [],
}

/** For an answer that never comes: on a busy machine the one before it may not come in time either, to the same end. */
export const SHORT_MS = 300

export const HTML = new RawReply(200, '<!doctype html><p>Down for maintenance', {'content-type': 'text/html'})
export const HUGE = new RawReply(200, 100 << 20)
export const ENDLESS = new RawReply(200, null)
export const claims = (values: Record<string, unknown>): Lies => ({claims: values})

interface JudgedOptions {
  readonly max_age_s?: number
  readonly most_ms?: number
}

/** A lying provider for the tests of a file, and a sign-in at it that is judged. */
export function judge() {
  let provider: LyingProvider
  beforeAll(async () => {
    provider = await startLyingProvider()
  })
  beforeEach(() => provider.lie({}))
  afterAll(() => provider.close())

  async function judged(lies: Lies, settings: Partial<OidcSettings> = {}, {max_age_s, most_ms}: JudgedOptions = {}) {
    const party = relyingParty({most_ms})
    const rules = oidcSettings({issuer: provider.issuer, client_secret: 'secret', ...settings})
    const ask = {...REQUEST, ...(max_age_s !== undefined && {max_age_s})}
    provider.lie(lies)
    const from = provider.requests.length
    const signIn = async () => {
      const back = await provider.answerTo(await party.providers.begin(rules, ask))
      return (await party.providers.finish(rules, {params: back.searchParams, ...ask})).statement
    }
    const work = signIn()
    const outcome = await outcomeOf(work)
    const [statement, detail] = await work.then(
      (stated): [Statement | null, string] => [stated, ''],
      (fault: Error): [Statement | null, string] => [null, fault.message],
    )
    return {outcome, detail, statement, lines: provider.requests.slice(from).map(({line}) => line)}
  }

  function each(cases: readonly HostileCase[]) {
    test.each(cases.map(([name, reason, lies, settings, most_ms]) => ({name, reason, lies, settings, most_ms})))(
      '$name: $reason',
      async ({reason, lies, settings, most_ms}) => {
        const {outcome, detail, lines} = await judged(lies(), settings, {most_ms})
        const sentence: unknown = reason === 'accepted' ? '' : expect.stringMatching(/^[^<>"\p{Cc}]+$/u)
        expect([outcome, detail]).toEqual([reason, sentence])
        expect(lines.filter(line => /elsewhere|own-keys/.test(line))).toEqual([])
      },
    )
  }

  return {provider: () => provider, judged, each}
}
