import {isDeepStrictEqual} from 'node:util'
import {isObject} from '../../../src/base/json-object.ts'
import {jwtSettings, OrganisationAuthUpdate, scimSettings} from '../../../src/schema/organisation-auth.ts'
import {explain} from '../../../src/schema/validation-message.ts'
import {unchecked} from '../../client.ts'
import type {Spec} from '../document.ts'
import {type ApplyTarget, NO_SECRETS, type ResourceKind, specOf} from '../kind.ts'

/** The slug of the rules: an organisation has them once. */
const SLUG = 'settings'
const DEFAULTS: Readonly<Record<string, Spec>> = {jwt: {...jwtSettings(null)}, scim: {...scimSettings(null)}}

const fields: ResourceKind['fields'] = Object.fromEntries(
  Object.entries(DEFAULTS).map(([part, usual]) => [part, {none: null, normal: value => withoutUsual(value, usual)}]),
)

/** The rules for tokens and for directories. Keys that verify tokens are public: nothing is secret. */
export const organisationAuth: ResourceKind = {
  name: 'organisation-auth',
  folder: 'organisation-auth',
  lives_in: 'organisation',
  needs: ['workspace'],
  remark:
    'Rules for tokens of an identity provider (`jwt`, [tokens](tokens.md)) and for directories (`scim`, [directories](scim.md)). Default values are left out. Its slug is `settings`.',
  create: 'organisation_auth.update',
  fields,
  secrets: NO_SECRETS,
  async read({gateway}) {
    const spec = specOf(fields, await gateway.call('organisation_auth.get'))
    return Object.keys(spec).length ? [{kind: 'organisation-auth', workspace: null, slug: SLUG, id: SLUG, spec}] : []
  },
  body: () => ({}),
  make: (place, {spec}) => write(place, spec),
  change: async (place, {spec}) => void (await write(place, spec)),
  remove: async place => void (await write(place, {})),
  async faults({slug, spec}) {
    const {error} = OrganisationAuthUpdate.safeParse(spec)
    return [
      ...(slug === SLUG ? [] : [`the slug must be ${SLUG}`]),
      ...(error ? [explain(error, OrganisationAuthUpdate, spec, {root: 'spec'}).replace(/\.$/, '')] : []),
    ]
  },
}

/** Members that are as they are by default say nothing, and so does a part without others. */
function withoutUsual(value: unknown, usual: Spec): unknown {
  if (!isObject(value)) return value
  const set = Object.entries(value).filter(([name, member]) => !isDeepStrictEqual(member, usual[name]))
  return set.length ? Object.fromEntries(set) : undefined
}

/** Rules that the file leaves out go back to their defaults. */
async function write({gateway}: ApplyTarget, spec: Spec): Promise<undefined> {
  const body = Object.entries(DEFAULTS).map(([part, usual]) => [
    part,
    {...Object.fromEntries(Object.keys(usual).map(name => [name, null])), ...(spec[part] as object | undefined)},
  ])
  await gateway.call('organisation_auth.update', {body: unchecked(Object.fromEntries(body))})
  return undefined
}
