import {isDeepStrictEqual} from 'node:util'
import {jwtSettings, OrganisationAuthUpdate} from '../../../src/schema/organisation-auth.ts'
import {explain} from '../../../src/schema/validation-message.ts'
import {unchecked} from '../../client.ts'
import type {Spec} from '../document.ts'
import {type ApplyTarget, NO_SECRETS, type ResourceKind} from '../kind.ts'

/** The slug of the rules: an organisation has them once. */
const SLUG = 'jwt'
const DEFAULTS: Spec = {...jwtSettings(null)}
const NOTHING: Spec = Object.fromEntries(Object.keys(DEFAULTS).map(name => [name, null]))

const fields: ResourceKind['fields'] = Object.fromEntries(
  Object.entries(DEFAULTS).map(([name, usual]) => [
    name,
    {none: null, normal: (value: unknown) => (isDeepStrictEqual(value, usual) ? undefined : value)},
  ]),
)

/** The rules by which the organisation takes tokens. Keys that verify them are public: nothing is secret. */
export const organisationAuth: ResourceKind = {
  name: 'organisation-auth',
  folder: 'organisation-auth',
  lives_in: 'organisation',
  needs: ['workspace'],
  remark:
    'Rules for tokens of an identity provider ([tokens](tokens.md)). Default values are left out. Its slug is `jwt`.',
  create: 'organisation_auth.update',
  fields,
  secrets: NO_SECRETS,
  async read({gateway}) {
    const {jwt} = await gateway.call('organisation_auth.get')
    const set = Object.entries(jwt).filter(([name, value]) => !isDeepStrictEqual(value, DEFAULTS[name]))
    return set.length
      ? [{kind: 'organisation-auth', workspace: null, slug: SLUG, id: SLUG, spec: Object.fromEntries(set)}]
      : []
  },
  body: () => ({}),
  make: (place, {spec}) => write(place, spec),
  change: async (place, {spec}) => void (await write(place, spec)),
  remove: async place => void (await write(place, {})),
  async faults({slug, spec}) {
    const schema = OrganisationAuthUpdate.shape.jwt.unwrap()
    const {error} = schema.safeParse(spec)
    return [
      ...(slug === SLUG ? [] : [`the slug must be ${SLUG}`]),
      ...(error ? [explain(error, schema, spec, {root: 'spec'}).replace(/\.$/, '')] : []),
    ]
  },
}

/** Rules that the file leaves out go back to their defaults. */
async function write({gateway}: ApplyTarget, spec: Spec): Promise<undefined> {
  await gateway.call('organisation_auth.update', {body: unchecked({jwt: {...NOTHING, ...spec}})})
  return undefined
}
