import {NO_SLAPD, startSlapd} from '../identity/ldap/slapd.ts'
import {startRealProvider} from '../identity/oidc/real-provider.ts'
import {makeCertifiedKey} from '../identity/saml/keys.ts'
import {NO_BROWSER} from './browser.ts'
import {addGroup, addPerson, PEOPLE, RIGHT, removeGroup} from './ldap-house.ts'
import type {RealBrowser} from './real-browser.ts'
import type {CertificateFiles} from './real-certificates.ts'
import {NO_PYSAML2, startPysaml2} from './real-pysaml2.ts'
import {type SamlProvider, startSamlify} from './real-samlify.ts'

/** A provider that runs, as a connection names it, and a person at it. */
export interface OpenWay {
  /** The settings of its type. */
  readonly settings: object
  /** The deeds of a person from the button of the sign-in page on, who is in these groups now. */
  enter(login: string, groups: readonly string[]): Promise<void>
  close(): Promise<void>
}

export interface WayPlace {
  readonly browser: RealBrowser
  /** CONTROL_PLANE_URL of the gateway. */
  readonly base: string
  /** Its metadata of SAML. */
  readonly own_metadata: string
  /** Of `localhost`, for a directory. */
  readonly certificate: CertificateFiles
}

/** One way of signing in, with a provider that others wrote. */
export interface RealWay {
  readonly name: string
  readonly type: 'oidc' | 'saml' | 'ldap'
  /** Of a person who uses this way alone. */
  readonly login: string
  readonly is_left_out: boolean
  open(place: WayPlace): Promise<OpenWay>
}

const OURS = makeCertifiedKey('rsa', 'gateway.example.test')
/** Of the gateway: it signs the requests of SAML. */
export const SAML_KEYS = {SAML_SP_PRIVATE_KEY: OURS.private_pem, SAML_SP_CERT: OURS.certificate_pem}

export const REAL_WAYS: readonly RealWay[] = [
  {name: 'oidc-provider', type: 'oidc', login: 'olga', is_left_out: NO_BROWSER, open: openProvider},
  {
    ...{name: 'samlify', type: 'saml', login: 'sam', is_left_out: NO_BROWSER},
    open: place => openSaml(place, own => startSamlify(() => own)),
  },
  {
    ...{name: 'pysaml2 with xmlsec1', type: 'saml', login: 'petra', is_left_out: NO_BROWSER || NO_PYSAML2},
    open: place => openSaml(place, startPysaml2),
  },
  {name: 'slapd', type: 'ldap', login: 'lars', is_left_out: NO_BROWSER || NO_SLAPD, open: openDirectory},
]

async function openProvider({browser, base}: WayPlace): Promise<OpenWay> {
  let now: readonly string[] = []
  const provider = await startRealProvider({
    redirect_uris: [`${base}/v2/auth/callback`],
    claimsOf: login => ({email: `${login}@example.test`, email_verified: true, groups: now}),
  })
  const {issuer, client_id, client_secret} = provider
  return {
    settings: {issuer, client_id, client_secret, groups_claim: 'groups'},
    async enter(login, groups) {
      now = groups
      await atProvider(browser, issuer, login)
    },
    close: () => provider.close(),
  }
}

/** The development pages of oidc-provider: who one is, with any password, and that one agrees. */
export async function atProvider({page, until}: RealBrowser, issuer: string, login: string): Promise<void> {
  const is_there = `location.origin === '${issuer}' && document.readyState === 'complete'`
  await until(`${is_there} && document.querySelector('[name=login]')`)
  await page.type('[name=login]', login)
  await page.type('[name=password]', 'any')
  await page.read(`setTimeout(() => document.querySelector('button').click())`)
  await until(`${is_there} && !document.querySelector('[name=login]') && document.querySelector('button')`)
  await page.read(`setTimeout(() => document.querySelector('button').click())`)
}

async function openSaml(
  {browser, own_metadata}: WayPlace,
  start: (own_metadata: string) => Promise<SamlProvider>,
): Promise<OpenWay> {
  const {metadata: metadata_xml, groups_attribute, close} = await start(own_metadata)
  return {
    settings: {metadata_xml, groups_attribute, sign_requests: true},
    enter: (login, groups) => atSamlProvider(browser, `${login}@example.test`, groups),
    close,
  }
}

/** The form of a provider of SAML, which says what is typed there. */
export async function atSamlProvider({page, until}: RealBrowser, email: string, groups: readonly string[] = []) {
  await until(`location.hostname === 'localhost' && document.querySelector('[name=email]')`)
  await page.type('[name=email]', email)
  if (groups.length > 0) await page.type('[name=groups]', groups.join(' '))
  await page.read(`setTimeout(() => document.querySelector('button').click())`)
}

/** By StartTLS for a gateway that is on loopback, else by ldaps: its certificate is of the same authority. */
async function openDirectory({browser, base, certificate}: WayPlace): Promise<OpenWay> {
  const slapd = await startSlapd({tls: true, certificate})
  const {url, plain_url, ca_pem: ca, admin_dn: bind_dn, admin_password: bind_password} = slapd
  const people = new Set<string>()
  let before: readonly string[] = []
  return {
    settings: {
      ...{url: base.startsWith('https:') ? url : plain_url, start_tls: true, ca},
      ...{bind_dn, bind_password, user_base: PEOPLE},
    },
    async enter(login, groups) {
      if (!people.has(login)) addPerson(slapd, login)
      people.add(login)
      for (const group of before) removeGroup(slapd, group)
      for (const group of groups) addGroup(slapd, group, login)
      before = groups
      await typeIn(browser, login, RIGHT)
    },
    close: () => slapd.stop(),
  }
}

/** The form of the gateway's own page for a directory. */
export async function typeIn({page, press}: RealBrowser, username: string, password: string): Promise<void> {
  await page.type('#username', username)
  await page.type('#password', password)
  await press('Sign in')
}
