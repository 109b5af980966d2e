import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {readAddress} from '../../base/address.ts'
import type {SsoConnection} from '../../identity/connections.ts'
import type {LdapAnswer} from '../../identity/ldap/directory.ts'
import {SignInFault} from '../../identity/sign-in-fault.ts'
import type {Statement} from '../../identity/statement.ts'
import {coversDomain} from '../../store/domains.ts'
import {letIn} from '../arrival.ts'
import {attempted, clientOf, isProxied, requireOwnForm} from '../caller.ts'
import {wayIn} from '../choice.ts'
import {beginTry, foldedName, forgetFailuresOf, MOST_OF_ACCOUNT, MOST_OF_ADDRESS, noteFailures} from '../failures.ts'
import {type Fields, fieldsOf} from '../fields.ts'
import {refusedWho} from '../finish.ts'
import {requireSecure, returnPath} from '../place.ts'
import type {SignInServices} from '../services.ts'
import {foundSignIn} from '../transactions.ts'

type LdapWay = SsoConnection & {readonly type: 'ldap'}

/** Sign-in with the user name and the password of a directory. */
export function ldapRoutes(scope: FastifyInstance, services: SignInServices): void {
  scope.post('/v2/auth/ldap', (request, reply) => typed(request, reply, services))
}

async function typed(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  requireOwnForm(request, services)
  requireSecure(request.headers.host, services.base_url, services.settings.session_cookie_secure)
  const fields = fieldsOf(request.body)
  let connection: LdapWay | null = null
  let statement: Statement | null = null
  return attempted({services, request, who: () => refusedWho(connection, statement)}, async () => {
    const way = (await wayIn(services, {
      connection: fields.text('connection', 255),
      organisation_id: fields.text('organisation_id', 255),
      type: 'ldap',
    })) as LdapWay
    connection = way
    const state = fields.text('state', 43)
    // of an invite's link, which proves more than the address
    const row = state === undefined ? null : await foundSignIn(services, state, {cookie: request.headers.cookie})
    if (row && row.connection_id !== way.id) throw new SignInFault('transaction_foreign', 'it is of another connection')
    const answer = await proven(request, services, way, fields)
    statement = await stated(services, way, answer)
    const holders = await holdersOf(services, way, statement)
    const return_to = returnPath(fields.text('return_to', 16_384), services.base_url)
    return letIn(request, reply, services, {connection: way, statement, row, return_to, holders, notes: []})
  })
}

/** The entry whose password was typed. Wrong ones are counted, by entry where there is one, else by name. */
async function proven(
  request: FastifyRequest,
  services: SignInServices,
  way: LdapWay,
  fields: Fields,
): Promise<LdapAnswer> {
  const [username, password] = [fields.text('username', 256) ?? '', fields.text('password', 1024) ?? '']
  const of_address = isProxied(request) ? null : `ldap address ${clientOf(request).client_ip}`
  const of_name = `ldap name ${way.id} ${foldedName(username)}`
  let of_account = of_name
  const ends: (() => void)[] = []
  const begin = async (key: string, most: number) => void ends.push(await beginTry(services, key, most))
  const mayBind = async (entry_id: string) => {
    of_account = `ldap entry ${way.id} ${entry_id}`
    await begin(of_account, MOST_OF_ACCOUNT)
  }
  try {
    if (of_address) await begin(of_address, MOST_OF_ADDRESS)
    await begin(of_name, MOST_OF_ACCOUNT)
    const answer = await (await services.ldap()).signIn(way.settings, {username, password, mayBind})
    await forgetFailuresOf(services, [of_name, of_account])
    return answer
  } catch (fault) {
    const is_wrong = fault instanceof SignInFault && fault.status === 401
    if (is_wrong) await noteFailures(services, of_address ? [of_account, of_address] : [of_account])
    throw fault
  } finally {
    for (const end of ends) end()
  }
}

/** Of several addresses the only one of a verified domain. Several of such are none: which is his own is not known. */
async function stated({store}: SignInServices, way: LdapWay, {statement, addresses}: LdapAnswer): Promise<Statement> {
  if (addresses.length <= 1) return statement
  const own: string[] = []
  for (const each of addresses) {
    const address = readAddress(each)
    if (address && (await coversDomain(store.db, way.organisation_id, address.domain))) own.push(each)
  }
  if (own.length > 1)
    throw new SignInFault('address_not_unique', `the entry has ${own.length} addresses of verified domains`)
  return {...statement, email: own[0] ?? addresses[0]}
}

async function holdersOf({ldap}: SignInServices, way: LdapWay, {email}: Statement): Promise<number> {
  return typeof email === 'string' ? (await ldap()).countOfAddress(way.settings, email) : 0
}
