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
import {
  beginTries,
  endTries,
  foldedName,
  giveBack,
  keepFailures,
  MOST_OF_ACCOUNT,
  MOST_OF_ADDRESS,
  type SecretTry,
} from '../failures.ts'
import {type Fields, fieldsOf} from '../fields.ts'
import {refusedWho} from '../finish.ts'
import {requireSecure, returnPath} from '../place.ts'
import type {SignInServices} from '../services.ts'
import {foundSignIn, requireUnchanged} from '../transactions.ts'

type LdapWay = SsoConnection & {readonly type: 'ldap'}

/** Sign-in with the user name and the password of a directory. */
export function ldapRoutes(scope: FastifyInstance, services: SignInServices): void {
  scope.post('/v2/auth/ldap', (request, reply) => typed(request, reply, services))
}

async function typed(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  requireOwnForm(request, services)
  requireSecure(request.headers.host, services.base_url, services.settings.session_cookie_secure)
  const fields = fieldsOf(request.body)
  const now = services.now().toISOString()
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
    if (row) requireUnchanged(row, way)
    const answer = await proven(request, services, way, fields)
    statement = await stated(services, way, answer)
    const holders = await holdersOf(services, way, statement)
    const return_to = returnPath(fields.text('return_to', 16_384), services.base_url)
    const begun_at = row?.created_at ?? now
    return letIn(request, reply, services, {connection: way, statement, row, begun_at, return_to, holders, notes: []})
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
  const [by_name, ...by_address] = (await beginTries(services, [
    {key: of_name, most: MOST_OF_ACCOUNT},
    ...(of_address ? [{key: of_address, most: MOST_OF_ADDRESS}] : []),
  ])) as [SecretTry, ...SecretTry[]]
  let by_entry: readonly SecretTry[] = []
  const mayBind = async (entry_id: string) => {
    by_entry = await beginTries(services, [{key: `ldap entry ${way.id} ${entry_id}`, most: MOST_OF_ACCOUNT}])
  }
  let answer: LdapAnswer
  try {
    answer = await (await services.ldap()).signIn(way.settings, {username, password, mayBind})
  } catch (fault) {
    const is_wrong = fault instanceof SignInFault && fault.status === 401
    if (!is_wrong) await giveBack(services, [by_name, ...by_entry, ...by_address])
    else if (by_entry.length === 0) await keepFailures(services, [by_name, ...by_address])
    else {
      await keepFailures(services, [...by_entry, ...by_address])
      await giveBack(services, [by_name])
    }
    throw fault
  }
  await endTries(services, {forget: [by_name, ...by_entry], back: by_address})
  return answer
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
