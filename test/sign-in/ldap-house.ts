import {createHash} from 'node:crypto'
import {once} from 'node:events'
import {type IncomingMessage, request} from 'node:http'
import {expect} from 'vitest'
import {type Slapd, startSlapd} from '../identity/ldap/slapd.ts'
import {type Browser, openSignInGateway, type PageReply} from '../support/sign-in.ts'
import type {StoreKind} from '../support/stores.ts'
import {startLdapRelay} from './ldap-relay.ts'

export const PEOPLE = 'ou=people,dc=example,dc=test'
/** The password of everybody in the directory. */
export const RIGHT = 'right-of-the-person'
const QUARTER_MS = 900_000

export interface Typed {
  readonly username: string
  readonly password?: string
  readonly headers?: Record<string, string>
  readonly browser?: Browser
  /** More fields of the body. */
  readonly more?: Record<string, string>
}

/** A directory of people, a relay that sees what is bound there, and a gateway that signs people in by it. */
export async function openLdap(kind: StoreKind = 'sqlite', env: Record<string, string> = {}) {
  const slapd = await startSlapd({tls: true})
  const relay = await startLdapRelay(slapd.plain_url)
  const clock = {ms: Date.now()}
  const refusal = async () => (await gateway.rows('sign_in'))[0]?.body
  const gateway = await openSignInGateway(kind, env, {now: () => clock.ms})
  const ldap = {
    url: relay.url,
    start_tls: false,
    bind_dn: slapd.admin_dn,
    bind_password: slapd.admin_password,
    user_base: PEOPLE,
  }
  return {
    slapd,
    gateway,
    ldap,
    clock,
    /** Passwords that were tried as a person, by the name of his entry. */
    bindsOf: (dn: string) => relay.binds.filter(bind => bind.dn.toLowerCase() === dn.toLowerCase()),
    binds: relay.binds,
    /** Sets the connection up; `changes` are of its settings. */
    connect: (changes: object = {}) =>
      gateway.auth({sso: {enabled: true, type: 'ldap', ldap: {...ldap, start_tls: false, ca: null, ...changes}}}),
    /** So long that no failure counts any more, and that refusals have rows of their own again. */
    later() {
      clock.ms += QUARTER_MS + 1
      relay.binds.length = 0
    },
    async signIn({username, password = RIGHT, headers = {}, browser = gateway.browser(), more = {}}: Typed) {
      const body = {username, password, ...more}
      const reply = await browser.go('/v2/auth/ldap', {method: 'POST', body, headers})
      return {browser, reply}
    },
    /** The body of the newest row of the audit log about sign-ins. */
    refusal,
    /** No session, and a row that says why: the reply does not. */
    async expectShut({browser, reply}: {readonly browser: Browser; readonly reply: PageReply}, reason: string) {
      expect([...browser.cookies]).toEqual([])
      expect(reply.headers.getSetCookie()).toEqual([])
      expect(await browser.self()).toBe(401)
      await expect.poll(() => refusal().then(body => body?.reason)).toBe(reason)
      expect(reply.text).not.toContain(reason)
    },
    async close() {
      await gateway.close()
      await relay.close()
      await slapd.stop()
    },
  }
}

export type LdapHouse = Awaited<ReturnType<typeof openLdap>>

/** The same bytes but for the date, and for what names this one request. */
export function shownOf({status, headers, text}: PageReply) {
  const trace_id = headers.get('x-gateway-trace-id')!
  const kept = [...headers].filter(([name]) => name !== 'date' && name !== 'x-gateway-trace-id')
  return {status, headers: kept, text: text.replaceAll(trace_id, 'TRACE')}
}

const KEPT = `{SSHA}${Buffer.concat([
  createHash('sha1').update(RIGHT).update('salt').digest(),
  Buffer.from('salt'),
]).toString('base64')}`

/** The status and cookies of a sign-in that comes to the gateway at `base` by another name of its host. */
export async function elsewhere(base: string, path: string, fields: Record<string, string>) {
  const headers = {host: 'gateway.example.test', 'content-type': 'application/json'}
  const call = request(new URL(path, base), {method: 'POST', headers})
  call.end(JSON.stringify(fields))
  const [reply] = (await once(call, 'response')) as [IncomingMessage]
  reply.resume()
  return {status: reply.statusCode, cookies: reply.headers['set-cookie'] ?? []}
}

/** Adds people; `addresses` are theirs, in place of one made of the name. */
export function addPerson({add}: Slapd, uid: string, addresses: readonly string[] = [`${uid}@example.test`]): void {
  add(
    [
      `dn: uid=${uid},${PEOPLE}`,
      'objectClass: inetOrgPerson',
      `uid: ${uid}`,
      `cn: ${uid}`,
      `sn: ${uid}`,
      `userPassword: ${KEPT}`,
      ...addresses.map(address => `mail: ${address}`),
    ].join('\n'),
  )
}

export function addGroup({add}: Slapd, name: string, uid: string): void {
  const dn = `cn=${name},ou=groups,dc=example,dc=test`
  add(`dn: ${dn}\nobjectClass: groupOfNames\ncn: ${name}\nmember: uid=${uid},${PEOPLE}`)
}

export function removeGroup({add}: Slapd, name: string): void {
  add(`dn: cn=${name},ou=groups,dc=example,dc=test\nchangetype: delete`)
}

/** Takes the lock away that the directory itself sets after five wrong passwords. */
export function unlock({add}: Slapd, uid: string): void {
  add(`dn: uid=${uid},${PEOPLE}\nchangetype: modify\ndelete: pwdAccountLockedTime`)
}
