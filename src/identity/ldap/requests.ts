import {SignInFault} from '../sign-in-fault.ts'
import type {LdapExchange} from './connection.ts'

export interface LdapSearch {
  readonly base: string
  readonly scope: 'base' | 'sub'
  /** Text of RFC 4515, or one attribute that must be equal to a value as it is. */
  readonly filter: string | {readonly attribute: string; readonly value: string | Buffer}
  readonly attributes: readonly string[]
  readonly most_entries: number
  /** Its base may be gone: then it finds nothing. */
  readonly may_be_absent?: true
}

/** Builds the requests that are sent. */
export interface LdapRequests {
  readonly bind: (dn: string, password: string) => LdapExchange
  readonly search: (search: LdapSearch) => LdapExchange
  readonly startTls: LdapExchange
  readonly unbind: (id: number) => Buffer
}

/** Seconds that a server may search. */
const TIME_LIMIT_S = 5
const START_TLS = '1.3.6.1.4.1.1466.20037'

let loading: Promise<LdapRequests> | undefined

/** The requests as ldapts writes them. It is loaded with the first sign-in: most installations have no directory. */
export function ldapRequests(): Promise<LdapRequests> {
  loading ??= load()
  return loading
}

async function load(): Promise<LdapRequests> {
  const ldapts = await import('ldapts')
  const filterOf = (filter: LdapSearch['filter']) => {
    if (typeof filter !== 'string') return new ldapts.EqualityFilter(filter)
    try {
      return ldapts.FilterParser.parseString(filter)
    } catch {
      throw new SignInFault('provider_error', 'a filter of the settings cannot be read')
    }
  }
  return {
    bind: (dn, password) => {
      // a simple bind without a name or a password succeeds at some servers and proves nothing (RFC 4513, 5.1.2)
      if (dn === '' || password === '') throw new SignInFault('credentials_wrong', 'a bind needs a name and a password')
      const write = (messageId: number) =>
        new ldapts.BindRequest({messageId, dn, password, controls: [new ldapts.PasswordPolicyControl()]}).write()
      return {kind: 'bind', write}
    },
    search: ({base, scope, filter, attributes, most_entries}) => {
      const options = {
        baseDN: base,
        scope,
        derefAliases: 'never' as const,
        filter: filterOf(filter),
        attributes: [...attributes],
        sizeLimit: most_entries,
        timeLimit: TIME_LIMIT_S,
      }
      const write = (messageId: number) => new ldapts.SearchRequest({...options, messageId}).write()
      return {kind: 'search', write, most_entries}
    },
    startTls: {
      kind: 'extended',
      write: messageId => new ldapts.ExtendedRequest({messageId, oid: START_TLS}).write(),
    },
    unbind: messageId => new ldapts.UnbindRequest({messageId}).write(),
  }
}
