import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {Refusal} from '../../base/errors.ts'
import {type AssetName, readAsset} from '../../base/runtime.ts'
import {donePage} from '../../identity/plain-page.ts'
import {findOrganisation} from '../../store/organisations.ts'
import {hasPasswords} from '../../store/user-passwords.ts'
import {heldSession, wantsJson} from '../caller.ts'
import {waysIn} from '../choice.ts'
import {fieldsOf} from '../fields.ts'
import {SIGNED_OUT} from '../own-places.ts'
import {movedTo, requireSecure} from '../place.ts'
import type {SignInServices} from '../services.ts'
import {isNear} from './password.ts'

/** Path → the page that is served there. */
const PAGES: Readonly<Record<string, AssetName>> = {
  'sign-in': 'sign-in.html',
  ldap: 'sign-in.html',
  password: 'sign-in.html',
  device: 'device.html',
  cli: 'cli.html',
  account: 'account.html',
  invite: 'invite.html',
}
export const SIGN_IN_FILES: readonly AssetName[] = [
  'sign-in.css',
  'common.js',
  'sign-in.js',
  'device.js',
  'cli.js',
  'account.js',
  'invite.js',
]
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}

/** The pages of sign-in, what they are made of, and the ways in that they offer. */
export function pageRoutes(scope: FastifyInstance, services: SignInServices): void {
  for (const [path, name] of Object.entries(PAGES))
    scope.get(`/v2/auth/${path}`, (request, reply) => page(request, reply, services, name))
  for (const name of SIGN_IN_FILES)
    scope.get(`/v2/auth/assets/${name}`, async (_, reply) => reply.type(typeOf(name)).send(await loaded(name)))
  scope.get(SIGNED_OUT, (request, reply) => signedOut(request, reply, services))
  scope.get('/v2/auth/ways', async (request, reply) => reply.send(await waysFor(request, services)))
  // the token of an invite is behind the `#`, which goes with the browser
  for (const [path, place] of [
    ['/v1/invites/accept', '/v2/auth/invite'],
    ['/', '/v2/auth/account'],
  ] as const)
    scope.get(path, (request, reply) => {
      if (wantsJson(request)) throw new Refusal('route.unknown', {path})
      return reply.redirect(place, 302)
    })
}

async function page(request: FastifyRequest, reply: FastifyReply, services: SignInServices, name: AssetName) {
  const {host} = request.headers
  requireSecure(host, services.base_url, services.settings.session_cookie_secure)
  const moved = movedTo({host, url: request.url}, services.base_url)
  if (moved !== null) return reply.redirect(moved, 302)
  return reply.type(typeOf(name)).send(await loaded(name))
}

/** A link to it could be sent to a person who is signed in: he is shown that he is. */
async function signedOut(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  const moved = movedTo({host: request.headers.host, url: request.url}, services.base_url)
  if (moved !== null) return reply.redirect(moved, 302)
  if (await heldSession(request, services)) return reply.redirect('/v2/auth/account', 302)
  const next = {href: '/v2/auth/sign-in', text: 'Sign in'}
  return reply.type(TYPES.html!).send(donePage({title: 'Signed out', message: 'You are signed out.', next}))
}

/**
 * The buttons of the page. Those of several organisations are not shown to a stranger: he says who he is first, and is
 * shown no more for an unknown address.
 */
async function waysFor(request: FastifyRequest, services: SignInServices) {
  const fields = fieldsOf(request.query)
  const wanted = {email: fields.text('email', 255), organisation_id: fields.text('organisation_id', 255)}
  const found = await waysIn(services, wanted)
  const organisations = new Set(found.map(({organisation_id}) => organisation_id))
  const is_one = organisations.size === 1
  const [organisation_id] = organisations
  const organisation = is_one ? await findOrganisation(services.store.db, organisation_id!) : undefined
  return {
    organisation: organisation ? {id: organisation.id, name: organisation.name} : null,
    connections: is_one ? found.map(({id, name, type}) => ({id, name, type})) : [],
    asks_email: organisations.size > 1,
    password: isNear(request, services) && (await hasPasswords(services.store.db)),
  }
}

const known = new Map<AssetName, Promise<Buffer>>()

function loaded(name: AssetName): Promise<Buffer> {
  const before = known.get(name)
  if (before) return before
  const now = readAsset(name)
  known.set(name, now)
  return now
}

function typeOf(name: AssetName): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)]!
}
