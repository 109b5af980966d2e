import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {Browser} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'
import {CALLBACK, form, hiddenIn, type OAuthHouse, openOAuthHouse, VERIFIER} from './house.ts'

const ROUNDS = 5

/** Requests at once: on PostgreSQL half of them at another process. */
describe.each(KINDS)('races of OAuth of MCP on %s', kind => {
  let house: OAuthHouse
  let twin: TestGateway | undefined
  let mia: Awaited<ReturnType<OAuthHouse['person']>>
  let urls: readonly string[]
  beforeAll(async () => {
    house = await openOAuthHouse(kind)
    await house.server('docs')
    mia = await house.person('mia', 'member', [house.workspace.id])
    if (kind === 'postgres')
      twin = await startGateway({...house.gateway.shared, PORT: '0'}, {now: () => house.clock.ms})
    urls = [house.base, twin?.url ?? house.base]
  })
  afterAll(async () => {
    await twin?.close()
    await house?.gateway.close()
  })
  beforeEach(() => house.pass(120_000))

  const at = async (url: string, fields: object) => {
    const reply = await fetch(`${url}/oauth/token`, {method: 'POST', body: form(fields)})
    return {status: reply.status, body: (await reply.json()) as Record<string, string>}
  }
  const both = <T>(work: (url: string) => Promise<T>) => Promise.all(urls.map(work))

  test('fact 6: of two exchanges of one code at once one wins, and what it gave is dead', async () => {
    const client_id = await house.client()
    for (let round = 0; round < ROUNDS; round++) {
      const code = await house.code(mia.browser, client_id)
      const fields = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: CALLBACK,
        code_verifier: VERIFIER,
        client_id,
      }
      const replies = await both(url => at(url, fields))
      expect(replies.map(({status}) => status).sort()).toEqual([200, 400])
      const {access_token} = replies.find(({status}) => status === 200)!.body
      expect(await house.isLive(access_token!)).toBe(false)
    }
  })

  test('fact 73: of four refreshes with one token at once all win, and all that they gave is live', async () => {
    const client_id = await house.client()
    const {refresh_token} = await house.tokens(mia.browser, client_id)
    const fields = {grant_type: 'refresh_token', refresh_token, client_id}
    const replies = (await Promise.all([both(url => at(url, fields)), both(url => at(url, fields))])).flat()
    expect(replies.map(({status}) => status)).toEqual([200, 200, 200, 200])
    const tokens = new Set(replies.map(({body}) => body.refresh_token))
    expect(tokens.size).toBe(4)
    expect(await Promise.all(replies.map(({body}) => house.isLive(body.access_token!)))).toEqual([
      true,
      true,
      true,
      true,
    ])
  })

  test('of two decisions at once one counts', async () => {
    const client = await house.client()
    for (let round = 0; round < ROUNDS; round++) {
      const page = await house.asked(mia.browser, client, {prompt: 'consent'})
      const fields = (action: string) => form({...hiddenIn(page.text), action})
      const replies = await Promise.all(
        urls.map((url, index) => {
          const browser = new Browser(url)
          for (const [name, value] of mia.browser.cookies) browser.cookies.set(name, value)
          return browser.go('/oauth/authorize', {method: 'POST', body: fields(index ? 'deny' : 'approve')})
        }),
      )
      expect(replies.map(({status}) => status).sort()).toEqual([302, 400])
    }
  })

  test('a grant that is revoked while it is refreshed leaves no live token behind', async () => {
    const client_id = await house.client()
    for (let round = 0; round < ROUNDS; round++) {
      const {refresh_token, access_token} = await house.tokens(mia.browser, client_id)
      const [refreshed] = await Promise.all([
        at(urls[1]!, {grant_type: 'refresh_token', refresh_token, client_id}),
        house.post('/oauth/revoke', {token: refresh_token, client_id}),
      ])
      const given = [access_token, ...(refreshed.status === 200 ? [refreshed.body.access_token!] : [])]
      for (const token of given) expect(await house.isLive(token)).toBe(false)
    }
  })

  test('a person who leaves while a client is let in has let none in', async () => {
    const client = await house.client()
    for (let round = 0; round < ROUNDS; round++) {
      const tom = await house.person(`tom${round}`, 'member', [house.workspace.id])
      const page = await house.asked(tom.browser, client)
      const [decided] = await Promise.all([
        house.decide(tom.browser, page),
        house.gateway.admin('DELETE', `/admin/users/${tom.id}`),
      ])
      if (decided.status !== 302) continue
      const code = new URL(decided.location!).searchParams.get('code')!
      expect((await house.exchange(client, code)).body.error).toBe('invalid_grant')
    }
  })

  test.skipIf(kind === 'sqlite')(
    'what is revoked at one process is dead at the other with the next request',
    async () => {
      const client_id = await house.client()
      const {refresh_token} = await house.tokens(mia.browser, client_id)
      await house.post('/oauth/revoke', {token: refresh_token, client_id})
      const {status, body} = await at(twin!.url, {grant_type: 'refresh_token', refresh_token, client_id})
      expect([status, body.error]).toEqual([400, 'invalid_grant'])
    },
  )
})
