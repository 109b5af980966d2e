import {type Answer, encoded, type SamlAnswer, startSamlIdp} from '../identity/saml/idp.ts'
import {Browser, openSignInGateway, type PageReply} from '../support/sign-in.ts'
import type {StoreKind} from '../support/stores.ts'

/** What a provider's page does: it sends a form from another site, so that no Lax cookie comes with it. */
export const OF_PROVIDER = {'sec-fetch-site': 'cross-site', origin: 'https://idp.example.test'} as const

type Idp = Awaited<ReturnType<typeof startSamlIdp>>

/** A gateway with one connection to a provider of SAML that lies as it should, and a clock that tests move. */
export async function openSaml(kind: StoreKind = 'sqlite', env: Record<string, string> = {}) {
  let ahead_ms = 0
  const now = () => Date.now() + ahead_ms
  const provider = await startSamlIdp({now_ms: now})
  const gateway = await openSignInGateway(kind, env, {now})
  const saml = {metadata_url: provider.metadata_url}
  await gateway.auth({sso: {enabled: true, type: 'saml', saml}})
  const {id: organisation_id} = await gateway.admin<{id: string}>('GET', '/admin/organisation')
  const base = gateway.shared.CONTROL_PLANE_URL!
  return {
    ...{gateway, provider, idp: provider.idp, organisation_id, now},
    ...steps(base, provider),
    acs_url: `${base}/v2/auth/saml/callback/${organisation_id}`,
    entity_id: `${base}/v2/auth/saml`,
    /** Moves the clock of both; sign-ins that are open count for a minute. */
    skip(ms = 61_000) {
      ahead_ms += ms
    },
    saml: (change: object) => gateway.auth({sso: {saml: change}}),
    async close() {
      await gateway.close()
      await provider.close()
    },
  }
}

export type SamlHouse = Awaited<ReturnType<typeof openSaml>>

/** The steps of a sign-in, one by one. */
export function steps(base: string, provider: Pick<Idp, 'answer'>) {
  const begin = async (browser: Browser, query = ''): Promise<string> => {
    const {location, status, text} = await browser.go(`/v2/auth/login${query}`)
    if (!location) throw new Error(`a sign-in does not begin: ${status} ${text}`)
    return location
  }
  const post = (url: string, fields: Readonly<Record<string, string>>): Promise<PageReply> =>
    new Browser(base).go(url, {method: 'POST', body: new URLSearchParams(fields), headers: OF_PROVIDER})
  const send = ({acs_url, SAMLResponse, RelayState}: SamlAnswer) => post(acs_url, {SAMLResponse, RelayState})
  return {
    begin,
    post,
    /** The form as the browser posts it. */
    send,
    async signIn(answer: Answer = {}, browser = new Browser(base)) {
      const form = await provider.answer(await begin(browser), answer)
      const consumed = await send(form)
      const reply = consumed.status === 303 ? await browser.go(consumed.location!) : consumed
      return {browser, form, consumed, reply}
    },
  }
}

export function formOf(xml: string): {readonly SAMLResponse: string} {
  return {SAMLResponse: encoded(xml)}
}

/** Another organisation of the installation, with a connection to the same provider. */
export async function otherOrganisation({gateway, provider}: Pick<SamlHouse, 'gateway' | 'provider'>) {
  const {id} = await gateway.admin<{id: string}>('POST', '/operator/organisations', {name: 'Other', slug: 'other'})
  const call = async (method: string, path: string, body: object) => {
    const reply = await gateway.app.inject({method, url: `/v1${path}`, body, organisation: id})
    if (reply.status !== 200) throw new Error(`${path} answers ${reply.status}: ${JSON.stringify(reply.body)}`)
  }
  await call('POST', '/operator/domains', {domain: 'other.test'})
  const saml = {metadata_url: provider.metadata_url}
  await call('PUT', '/admin/organisation/auth', {sso: {enabled: true, type: 'saml', saml}})
  return {id, acs_url: `${gateway.shared.CONTROL_PLANE_URL}/v2/auth/saml/callback/${id}`}
}
