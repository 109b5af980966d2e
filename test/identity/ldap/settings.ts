import {LdapDirectories} from '../../../src/identity/ldap/directory.ts'
import type {SignInFault} from '../../../src/identity/sign-in-fault.ts'
import {LDAP_DEFAULTS, type LdapSettings} from '../../../src/schema/connections.ts'

/** Settings over the defaults, as the schema gives them. */
export function ldapSettings(changes: Partial<LdapSettings> & Pick<LdapSettings, 'url'>): LdapSettings {
  return {
    ...LDAP_DEFAULTS,
    name_attributes: ['givenName', 'sn'],
    user_base: 'ou=people,dc=example,dc=test',
    ...changes,
  }
}

export interface Directories {
  readonly directories: LdapDirectories
  /** Host names that were resolved, in order. */
  readonly resolved: string[]
  /** Lines of the log. */
  readonly lines: unknown[]
}

/** Directories whose hosts are all on loopback, at the addresses given. */
export function openDirectories(
  addresses: readonly string[] = ['127.0.0.1'],
  timeouts = {connect_ms: 5000, answer_ms: 5000},
  now_ms = () => Date.now(),
): Directories {
  const resolved: string[] = []
  const lines: unknown[] = []
  const directories = new LdapDirectories({
    addressesOf: async hostname => {
      resolved.push(hostname)
      return addresses
    },
    now_ms,
    log: {warn: (...line: unknown[]) => void lines.push(line)},
    timeouts,
  })
  return {directories, resolved, lines}
}

/** The fault with which something ends: its reason and detail. */
export async function faultOf(run: Promise<unknown>): Promise<Pick<SignInFault, 'reason' | 'detail'>> {
  return run.then(
    () => {
      throw new Error('no fault')
    },
    (fault: SignInFault) => ({reason: fault.reason, detail: fault.detail}),
  )
}
