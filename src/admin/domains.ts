import {randomBytes} from 'node:crypto'
import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {DomainCreate, DomainParams, DomainUpdate, DomainView} from '../schema/domains.ts'
import {ssoSettings} from '../schema/organisation-auth.ts'
import {Empty, listOf} from '../schema/paging.ts'
import * as store from '../store/domains.ts'
import {findOrganisation} from '../store/organisations.ts'
import type {DomainsTable} from '../store/tables/directories.ts'
import {type OperationCall, operation} from './operation.ts'
import {type CallerScope, found, invalid} from './tenancy.ts'

const tag = 'Organisation'
const path = '/admin/organisation/domains'

/** The domains of an organisation: a directory brings people of a verified one alone. */
export const domains = [
  operation({
    id: 'domains.list',
    tag,
    method: 'GET',
    path,
    summary: 'List the domains of the organisation',
    scopes: ['organisation_settings.read'],
    reply: listOf(DomainView),
    async handle({actor, db}) {
      const rows = await store.listDomains(db, actor.organisation_id)
      return {object: 'list' as const, total: rows.length, data: rows.map(view)}
    },
  }),
  operation({
    id: 'domains.update',
    tag,
    method: 'PUT',
    path: `${path}/:domainId`,
    summary: 'Say whether what is below a domain counts as well',
    scopes: ['organisation_settings.update'],
    audit: {resource: 'domain', action: 'update'},
    params: DomainParams,
    body: DomainUpdate,
    reply: DomainView,
    async handle(call) {
      const domain = await one(call)
      await requireRegistrable(domain.domain, call.body.allow_subdomains)
      await store.updateDomain(call.db, domain.id, {allow_subdomains: call.body.allow_subdomains ? 1 : 0})
      call.auditTarget(domain.id, null)
      return view(await one(call))
    },
  }),
  operation({
    id: 'domains.delete',
    tag,
    method: 'DELETE',
    path: `${path}/:domainId`,
    summary: 'Take a domain away: a directory brings no more people of it',
    scopes: ['organisation_settings.update'],
    audit: {resource: 'domain', action: 'delete'},
    params: DomainParams,
    reply: Empty,
    async handle(call) {
      const domain = await one(call)
      await requireAnother(call, domain)
      await store.deleteDomain(call.db, domain.id)
      call.auditTarget(domain.id, null)
      return {}
    },
  }),
] as const

/** The operator vouches for a domain: he has the machine, and no record has to prove it. */
export const operatorDomains = [
  operation({
    id: 'domains.create',
    tag: 'Operator',
    method: 'POST',
    path: '/operator/domains',
    summary: 'Add a domain of the organisation, verified by the operator',
    scopes: [],
    audit: {resource: 'domain', action: 'create'},
    body: DomainCreate,
    reply: DomainView,
    handle: created,
  }),
] as const

async function created(
  call: OperationCall<undefined, undefined, typeof DomainCreate>,
): Promise<z.input<typeof DomainView>> {
  const {actor, db, body, now} = call
  const {domain, allow_subdomains} = body
  await requireRegistrable(domain, allow_subdomains)
  // the refusal does not name the organisation that has it
  if (await store.isVerified(db, domain))
    throw new Refusal('row.exists', {object: 'domain', field: 'domain', value: domain})
  const row: DomainsTable = {
    ...{id: newId(), organisation_id: actor.organisation_id, domain, allow_subdomains: allow_subdomains ? 1 : 0},
    ...{status: 'verified', code: randomBytes(16).toString('hex'), created_at: now, verified_at: now},
  }
  await store.insertDomain(db, row)
  call.auditTarget(row.id, null)
  return view(row)
}

/**
 * A domain of which everybody registers parts is no one's, and below one that is itself a part there may be others'
 * parts. By the public suffix list, whose default rule takes names of a private network as registrable.
 */
async function requireRegistrable(domain: string, allow_subdomains: boolean) {
  const {getDomain} = await import('tldts')
  const registrable = getDomain(domain, {allowPrivateDomains: true})
  if (registrable === null) throw invalid('domain', 'is a public suffix, of which everybody registers parts')
  if (allow_subdomains && registrable !== domain)
    throw invalid('allow_subdomains', `counts for a registrable domain alone: ${registrable}`)
}

/** One verified domain has to be left where connections are the only way in, or no one could come. */
async function requireAnother({actor, db}: CallerScope, {id, status}: DomainsTable) {
  const organisation = await findOrganisation(db, actor.organisation_id)
  if (status !== 'verified' || !ssoSettings(organisation?.auth).required) return
  const others = (await store.listDomains(db, actor.organisation_id)).filter(each => each.id !== id)
  if (others.some(each => each.status === 'verified')) return
  throw new Refusal('row.unfit', {reason: 'sso.required is on: the last verified domain stays. Switch that off first.'})
}

async function one({actor, db, params}: OperationCall<typeof DomainParams, undefined, z.ZodType | undefined>) {
  return found(await store.findDomain(db, actor.organisation_id, params.domainId), 'domain')
}

function view({
  id,
  domain,
  allow_subdomains,
  status,
  created_at,
  verified_at,
}: DomainsTable): z.input<typeof DomainView> {
  return {id, domain, allow_subdomains: allow_subdomains === 1, status, created_at, verified_at, object: 'domain'}
}
