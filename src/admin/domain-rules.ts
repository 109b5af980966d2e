import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {isAllowed} from '../identity/access.ts'
import {challengeOf, type DomainView} from '../schema/domains.ts'
import {ssoSettings} from '../schema/organisation-auth.ts'
import type {Db} from '../store/database.ts'
import * as store from '../store/domains.ts'
import {findOrganisation} from '../store/organisations.ts'
import type {DomainsTable} from '../store/tables/directories.ts'
import type {Actor} from './services.ts'
import {type CallerScope, found, invalid} from './tenancy.ts'

/** The domain of the caller's organisation whose name or id is `named`. */
export async function ownDomain({actor}: Pick<CallerScope, 'actor'>, db: Db, named: string): Promise<DomainsTable> {
  return found(await store.findDomain(db, actor.organisation_id, named), 'domain')
}

/**
 * A domain of which everybody registers parts is no one's, and below one that is itself a part there may be others'
 * parts. By the public suffix list, whose default rule takes names of a private network as registrable.
 */
export async function requireRegistrable(domain: string, allow_subdomains: boolean) {
  const {getDomain} = await import('tldts')
  const registrable = getDomain(domain, {allowPrivateDomains: true})
  if (registrable === null) throw invalid('domain', 'is a public suffix, of which everybody registers parts')
  if (allow_subdomains && registrable !== domain)
    throw invalid('allow_subdomains', `counts for a registrable domain alone: ${registrable}`)
}

/** The refusal does not name the organisation that has it. */
export function taken(domain: string, options?: ErrorOptions): Refusal {
  return new Refusal('row.exists', {object: 'domain', field: 'domain', value: domain}, options)
}

/** One verified domain has to be left where connections are the only way in, or no one could come. */
export async function requireAnother({actor, db}: CallerScope, {id, status}: DomainsTable) {
  const organisation = await findOrganisation(db, actor.organisation_id)
  if (status !== 'verified' || !ssoSettings(organisation?.auth).required) return
  const others = (await store.listDomains(db, actor.organisation_id)).filter(each => each.id !== id)
  if (others.some(each => each.status === 'verified')) return
  throw new Refusal('row.unfit', {reason: 'sso.required is on: the last verified domain stays. Switch that off first.'})
}

/** A domain as the caller may see it: the value of the record is for those who may change the settings. */
export function domainView(row: DomainsTable, actor: Actor): z.input<typeof DomainView> {
  const {id, domain, allow_subdomains, status, created_at, verified_at} = row
  const {proof = null, looked_at = null, lost_at = null} = row
  return {
    ...{id, domain, allow_subdomains: allow_subdomains === 1, status, proof},
    verification: status === 'verified' ? null : verification(row, actor),
    ...{created_at, verified_at, looked_at, lost_at, object: 'domain'},
  }
}

function verification(row: DomainsTable, actor: Actor) {
  const {dns_value, ...challenge} = challengeOf(row)
  const may_prove = isAllowed(actor, ['organisation_settings.update'])
  return {
    ...challenge,
    dns_value: may_prove ? dns_value : null,
    mail_code_ends_at: row.mail_code_hash ? (row.mail_code_ends_at ?? null) : null,
  }
}
