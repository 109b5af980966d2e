import {randomBytes} from 'node:crypto'
import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {DomainCreate, DomainParams, DomainUpdate, DomainVerify, DomainView, DomainVouched} from '../schema/domains.ts'
import {Empty, listOf} from '../schema/paging.ts'
import * as store from '../store/domains.ts'
import type {DomainsTable} from '../store/tables/directories.ts'
import {verified} from './domain-proofs.ts'
import {domainView, ownDomain, requireAnother, requireRegistrable, taken} from './domain-rules.ts'
import {type OperationCall, operation} from './operation.ts'

const tag = 'Organisation'
const path = '/admin/organisation/domains'
/** A claim costs nothing, and each may have lookups and mails made. */
const MOST_PENDING = 50

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
      return {object: 'list' as const, total: rows.length, data: rows.map(row => domainView(row, actor))}
    },
  }),
  operation({
    id: 'domains.create',
    tag,
    method: 'POST',
    path,
    summary: 'Claim a domain: it allows nothing before it is verified. The reply says what proves it',
    scopes: ['organisation_settings.update'],
    audit: {resource: 'domain', action: 'create'},
    body: DomainCreate,
    reply: DomainView,
    handle: claimed,
  }),
  operation({
    id: 'domains.verify',
    tag,
    method: 'POST',
    path: `${path}/:domainId/verify`,
    summary: 'Prove a domain by its DNS record, or by a code that is sent to it by mail',
    scopes: ['organisation_settings.update'],
    reaches_out: true,
    audit: {resource: 'domain', action: 'update'},
    refuses: [429],
    params: DomainParams,
    body: DomainVerify,
    reply: DomainView,
    handle: verified,
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
      const {actor, db, params, body} = call
      const domain = await ownDomain(call, db, params.domainId)
      await requireRegistrable(domain.domain, body.allow_subdomains)
      await store.updateDomain(db, domain.id, {allow_subdomains: body.allow_subdomains ? 1 : 0})
      call.auditTarget(domain.id, null)
      return domainView(await ownDomain(call, db, domain.id), actor)
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
      const domain = await ownDomain(call, call.db, call.params.domainId)
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
    id: 'domains.create_verified',
    tag: 'Operator',
    method: 'POST',
    path: '/operator/domains',
    summary: 'Add a domain of the organisation, verified by the operator',
    scopes: [],
    audit: {resource: 'domain', action: 'create'},
    body: DomainVouched,
    reply: DomainView,
    handle: vouchedFor,
  }),
  operation({
    id: 'domains.vouch',
    tag: 'Operator',
    method: 'POST',
    path: '/operator/domains/:domainId/verify',
    summary: 'Verify a domain that the organisation claimed, without a proof',
    scopes: [],
    audit: {resource: 'domain', action: 'update'},
    params: DomainParams,
    reply: DomainView,
    async handle(call) {
      const {actor, db, params} = call
      const row = await ownDomain(call, db, params.domainId)
      call.auditTarget(row.id, null)
      if (row.status === 'pending') await vouch(call, row)
      return domainView(await ownDomain(call, db, row.id), actor)
    },
  }),
] as const

type CreateCall<B extends z.ZodType> = OperationCall<undefined, undefined, B>

async function claimed(call: CreateCall<typeof DomainCreate>): Promise<z.input<typeof DomainView>> {
  const {actor, db, body} = call
  const {organisation_id} = actor
  await requireRegistrable(body.domain, body.allow_subdomains)
  if (await store.findDomain(db, organisation_id, body.domain)) throw taken(body.domain)
  if (await store.isVerified(db, body.domain)) throw taken(body.domain)
  if ((await store.countPending(db, organisation_id)) >= MOST_PENDING)
    throw new Refusal('row.unfit', {
      reason: `${MOST_PENDING} domains wait for their proof, which is the most. Verify some, or delete them.`,
    })
  const row = pendingRow(call, body)
  await store.insertDomain(db, row)
  call.auditTarget(row.id, null)
  return domainView(row, actor)
}

/** Also one that the organisation has claimed. */
async function vouchedFor(call: CreateCall<typeof DomainVouched>): Promise<z.input<typeof DomainView>> {
  const {actor, db, body} = call
  await requireRegistrable(body.domain, body.allow_subdomains)
  const known = await store.findDomain(db, actor.organisation_id, body.domain)
  const row = known ?? pendingRow(call, body)
  if (row.status === 'verified') throw taken(body.domain)
  if (known) await store.updateDomain(db, row.id, {allow_subdomains: body.allow_subdomains ? 1 : 0})
  else await store.insertDomain(db, row)
  await vouch(call, row)
  call.auditTarget(row.id, null)
  return domainView(await ownDomain(call, db, row.id), actor)
}

async function vouch({db, now}: Pick<OperationCall, 'db' | 'now'>, row: DomainsTable) {
  if (await store.isVerified(db, row.domain)) throw taken(row.domain)
  await store.verifyDomain(db, row, {proof: 'operator', now})
}

function pendingRow(
  {actor, now}: Pick<OperationCall, 'actor' | 'now'>,
  {domain, allow_subdomains}: z.output<typeof DomainVouched>,
): DomainsTable {
  return {
    ...{id: newId(), organisation_id: actor.organisation_id, domain, allow_subdomains: allow_subdomains ? 1 : 0},
    ...{status: 'pending', code: randomBytes(16).toString('hex'), created_at: now, verified_at: null},
  }
}
