import type {LdapSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {LdapConnection} from './connection.ts'
import {dialed, type LdapDialing, type LdapStep} from './dial.ts'
import type {LdapRequests} from './requests.ts'
import {bindSearchAccount} from './search-account.ts'
import {findPerson, groupsOf, searchingOver} from './searches.ts'

/**
 * Tries the settings, step by step until one fails: each server, the search account, the search, and with a user name
 * its entry and groups. `noted` is called for each.
 */
export async function tryDirectory(
  settings: LdapSettings,
  dialing: LdapDialing,
  requests: LdapRequests,
  username: string | undefined,
  noted: (step: LdapStep) => void,
): Promise<void> {
  let connection: LdapConnection | undefined
  let is_noted = false
  const step = async <T>(name: string, run: () => Promise<T>, detailOf: (value: T) => string): Promise<T> => {
    try {
      const value = await run()
      noted({name, ok: true, detail: detailOf(value).slice(0, MAX_DETAIL)})
      return value
    } catch (fault) {
      if (fault instanceof SignInFault) noted({name, ok: false, detail: fault.detail})
      is_noted = true
      throw fault
    }
  }
  const watched = {
    ...dialing,
    noted: (each: LdapStep) => {
      is_noted = true
      noted(each)
    },
  }
  try {
    connection = await dialed(settings, watched, requests, each =>
      step(
        'bind',
        () => bindSearchAccount(settings, requests, each),
        () => settings.bind_dn || 'anonymous',
      ),
    )
    const search = searchingOver(connection, requests)
    const found = await step(
      'search',
      () => findPerson(search, settings, username ?? NO_USER),
      () => settings.user_base,
    )
    if (username === undefined) return
    const person = await step(
      'entry',
      async () => {
        if (found.kind === 'one') return found.person
        throw new SignInFault(
          'credentials_wrong',
          `${found.kind === 'none' ? 'no entry fits' : 'several entries fit'} the user name`,
        )
      },
      ({dn}) => dn,
    )
    await step(
      'groups',
      () => groupsOf(search, settings, person),
      groups => (groups.kind === 'known' ? groups.names.join(', ') : 'more than are read'),
    )
  } catch (fault) {
    if (!(fault instanceof SignInFault)) throw fault
    if (!is_noted) noted({name: 'connect', ok: false, detail: fault.detail})
  } finally {
    connection?.close(requests.unbind)
  }
}

const NO_USER = 'gateway-no-such-user'
const MAX_DETAIL = 500
