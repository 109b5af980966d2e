import type {Log} from '../../base/log.ts'
import type {LdapSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {Statement} from '../statement.ts'
import {checkPersonBind, locked} from './bind-results.ts'
import type {LdapConnection} from './connection.ts'
import {dialed, type LdapDialing, type LdapStep} from './dial.ts'
import type {LdapPerson} from './entries.ts'
import {LdapPool, poolKey} from './pool.ts'
import {type LdapLink, type LdapPresence, presenceIn} from './presence.ts'
import {type LdapRequests, ldapRequests} from './requests.ts'
import {bindSearchAccount} from './search-account.ts'
import {countAddress, findPerson, groupsOf, locksOf, type Searching, searchingOver} from './searches.ts'
import {tryDirectory} from './tries.ts'

export interface LdapOptions {
  /**
   * Resolves a host and judges it by the egress wall: the addresses to dial, in order; throws for one that may not be
   * reached. Hosts of the settings may be dialled at any port.
   */
  readonly addressesOf: (hostname: string) => Promise<readonly string[]>
  readonly now_ms: () => number
  readonly log: Pick<Log, 'warn'>
  /** For one address to be connected, and for one answer. @default 5000 each */
  readonly timeouts?: {readonly connect_ms: number; readonly answer_ms: number}
}

export interface LdapAnswer {
  readonly statement: Statement
  /** Stays the same as long as the directory keeps the entry. */
  readonly entry_id: string
  readonly dn: string
  /** Every value of the e-mail attribute; the statement has one only where there is one. */
  readonly addresses: readonly string[]
}

export interface LdapCredentials {
  readonly username: string
  readonly password: string
  /** Called with the id of the entry before any bind as that entry; throws where it failed too often. */
  readonly mayBind: (entry_id: string) => Promise<void>
}

const MAX_USERNAME = 256
const MAX_PASSWORD = 1024
/** A bind for a user name that fits no entry takes about as long as one with a wrong password. */
const DECOY = 'cn=gateway-no-such-entry'

/** Signs people in at LDAP directories. Connections of the search accounts are kept, those of people never. */
export class LdapDirectories {
  readonly #dialing: LdapDialing
  readonly #log: LdapOptions['log']
  readonly #pools = new Map<string, LdapPool>()

  constructor({addressesOf, now_ms, log, timeouts = {connect_ms: 5000, answer_ms: 5000}}: LdapOptions) {
    this.#dialing = {addressesOf, now_ms, ...timeouts}
    this.#log = log
  }

  /**
   * Signs a person in. Throws SignInFault: `credentials_wrong`, `account_locked`, `provider_unreachable`,
   * `provider_invalid`, `provider_error`, `address_not_unique`, and what `mayBind` throws.
   */
  async signIn(settings: LdapSettings, {username, password, mayBind}: LdapCredentials): Promise<LdapAnswer> {
    checkCredentials(username, password)
    const requests = await ldapRequests()
    const search = this.#searching(settings, requests)
    const found = await findPerson(search, settings, username)
    if (found.kind !== 'one') return this.#refuseUnknown(settings, requests, found.kind, password)
    const {person} = found
    await mayBind(person.id)
    await this.#bindAs(settings, requests, person.dn, password)
    await checkLocks(search, person)
    const groups = await groupsOf(search, settings, person)
    const {id, dn, addresses, first_name, last_name} = person
    const statement: Statement = {
      subject: id,
      email: addresses.length === 1 ? addresses[0] : null,
      email_verified: null, // people may be allowed to write this attribute of theirs
      first_name,
      last_name,
      groups,
      session_ends_at: null,
      provider_session: null,
      id_token: null,
    }
    return {statement, entry_id: id, dn, addresses}
  }

  /** How many entries have `address` as an e-mail address; 2 for all larger numbers. Throws SignInFault. */
  async countOfAddress(settings: LdapSettings, address: string): Promise<number> {
    return countAddress(this.#searching(settings, await ldapRequests()), settings, address)
  }

  /** How the directory has a person who was let in before. Throws SignInFault where it does not say. */
  async presenceOf(settings: LdapSettings, link: LdapLink): Promise<LdapPresence> {
    return presenceIn(this.#searching(settings, await ldapRequests()), settings, link)
  }

  /**
   * Tries the settings for administrators: each step until one fails. No password of a person is needed; with a user
   * name, its entry and groups are read too. Never throws SignInFault.
   */
  async tried(settings: LdapSettings, username?: string): Promise<readonly LdapStep[]> {
    const steps: LdapStep[] = []
    await tryDirectory(settings, this.#dialing, await ldapRequests(), username, step => void steps.push(step))
    return steps
  }

  /** Ends all connections that are kept. */
  async close(): Promise<void> {
    for (const pool of this.#pools.values()) pool.close()
    this.#pools.clear()
  }

  /** Each search takes a connection of the pool for as long as it runs. */
  #searching(settings: LdapSettings, requests: LdapRequests): Searching {
    return async (name, search) => {
      try {
        const pool = this.#poolOf(settings, requests)
        return await pool.use(connection => searchingOver(connection, requests)(name, search))
      } catch (fault) {
        if (fault instanceof SignInFault && fault.status >= 500)
          this.#log.warn({reason: fault.reason, detail: fault.detail}, 'an LDAP directory could not be searched')
        throw fault
      }
    }
  }

  #poolOf(settings: LdapSettings, requests: LdapRequests): LdapPool {
    const key = poolKey(settings)
    const known = this.#pools.get(key)
    if (known) return known
    // settings that changed have left a pool behind
    for (const [each, pool] of this.#pools) if (pool.prune() === 0) this.#pools.delete(each)
    const {now_ms, answer_ms} = this.#dialing
    const ready = (connection: LdapConnection) => bindSearchAccount(settings, requests, connection)
    const pool = new LdapPool(
      () => dialed(settings, this.#dialing, requests, ready),
      connection => connection.close(requests.unbind),
      now_ms,
      answer_ms,
    )
    this.#pools.set(key, pool)
    return pool
  }

  /** Binds on a connection of its own, which ends after it. */
  async #bindAs(settings: LdapSettings, requests: LdapRequests, dn: string, password: string): Promise<void> {
    const connection = await dialed(settings, this.#dialing, requests, async each => {
      const {result} = await each.ask(requests.bind(dn, password))
      checkPersonBind(result, password)
    })
    connection.close(requests.unbind)
  }

  async #refuseUnknown(
    settings: LdapSettings,
    requests: LdapRequests,
    kind: 'none' | 'several',
    password: string,
  ): Promise<never> {
    await this.#bindAs(settings, requests, `${DECOY},${settings.user_base}`, password).catch(fault => {
      if (!(fault instanceof SignInFault) || fault.status >= 500) throw fault
    })
    throw new SignInFault(
      'credentials_wrong',
      `${kind === 'none' ? 'no entry fits' : 'several entries fit'} the user name`,
    )
  }
}

function checkCredentials(username: string, password: string): void {
  const is_name =
    username !== '' && username.length <= MAX_USERNAME && !username.includes('\0') && username.isWellFormed()
  if (!is_name) throw new SignInFault('credentials_wrong', `a user name has 1 to ${MAX_USERNAME} characters`)
  // a server that stops reading at a NUL would take what comes before it, which may be nothing
  const is_password =
    password !== '' && password.length <= MAX_PASSWORD && !password.includes('\0') && password.isWellFormed()
  if (!is_password) throw new SignInFault('credentials_wrong', `a password has 1 to ${MAX_PASSWORD} characters`)
}

/** Only after the bind, so that a wrong password hears nothing of locks. Throws SignInFault `account_locked`. */
async function checkLocks(search: Searching, {dn, locks}: LdapPerson): Promise<void> {
  const lifting = locks.some(({lifts_by_bind}) => lifts_by_bind) ? await locksOf(search, dn) : []
  const [lock] = [...locks.filter(({lifts_by_bind}) => !lifts_by_bind), ...lifting]
  if (lock) throw locked(lock.reason)
}
