import {type Answer, SamlIdp} from '../identity/saml/idp.ts'
import type {Browser, PageReply} from '../support/sign-in.ts'
import type {PeopleHouse} from './people-house.ts'

export const OBJECT_ID = 'http://schemas.microsoft.com/identity/claims/objectidentifier'

/** A provider of SAML beside the others of a house, and a sign-in through it. */
export async function addSaml(house: PeopleHouse) {
  const idp = new SamlIdp()
  const {sso} = await house.gateway.admin<{sso: {connections: {id: string}[]}}>('GET', '/admin/organisation/auth')
  const added = {name: 'saml', type: 'saml', saml: {metadata_xml: idp.metadata}}
  const kept = sso.connections.map(({id}) => ({id}))
  const after: unknown = await house.gateway.auth({sso: {connections: [...kept, added]}})
  const connection = (after as {sso: {connections: {id: string; name: string}[]}}).sso.connections.find(
    ({name}) => name === 'saml',
  )!.id

  /** The address of the second step, with which the browser comes back. */
  const answered = async (browser: Browser, answer: Answer): Promise<string> => {
    const {location} = await browser.go(`/v2/auth/login?connection=${connection}`)
    const {SAMLResponse, RelayState, acs_url} = await idp.answer(location!, answer)
    const form = new URLSearchParams({SAMLResponse, RelayState})
    const reply = await browser.go(acs_url, {
      method: 'POST',
      body: form,
      headers: {'sec-fetch-site': 'cross-site', cookie: ''},
    })
    if (!reply.location) throw new Error(`the consumer answers ${reply.status}: ${reply.text}`)
    return reply.location
  }
  return {
    idp,
    connection,
    answered,
    async comes(
      answer: Answer,
      browser = house.gateway.browser(),
    ): Promise<{readonly browser: Browser; readonly reply: PageReply}> {
      return {browser, reply: await browser.go(await answered(browser, answer))}
    },
  }
}
