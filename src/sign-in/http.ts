import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {Refusal} from '../base/errors.ts'
import {newTimeId} from '../base/ids.ts'
import {checkDepth} from '../base/json-shape.ts'
import {storeRefusal} from '../base/store-fault.ts'
import {errorPage} from '../identity/plain-page.ts'
import {SignInFault} from '../identity/sign-in-fault.ts'
import {findNul} from '../schema/nul.ts'
import {clientOf, noteClient, wantsJson} from './caller.ts'
import {type RefusalView, viewOf} from './refusals.ts'
import {backchannelRoutes} from './routes/backchannel.ts'
import {commandRoutes} from './routes/command.ts'
import {deviceRoutes} from './routes/device.ts'
import {ldapRoutes} from './routes/ldap.ts'
import {loginRoutes} from './routes/login.ts'
import {oidcRoutes} from './routes/oidc.ts'
import {pageRoutes} from './routes/pages.ts'
import {passwordRoutes} from './routes/password.ts'
import {samlRoutes} from './routes/saml.ts'
import {sessionRoutes} from './routes/session.ts'
import type {SignInServices} from './services.ts'

/** A document of SAML is at most 1 MiB in base64, each byte of which a form may write as three. */
const BODY_LIMIT = 4 * 1024 * 1024
const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
} as const

const OF_OTHER_ORIGINS = ['access-control-allow-origin', 'access-control-expose-headers'] as const

/** Serves sign-in and sessions: `/v2/auth/…` and `/v1/auth/…`. */
export function mountSignIn(server: FastifyInstance, services: SignInServices): void {
  server.register(async scope => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(/^application\/json\b/i, {parseAs: 'string'}, async (_: FastifyRequest, text: string) =>
      parsedJson(text),
    )
    scope.addContentTypeParser(
      /^application\/x-www-form-urlencoded\b/i,
      {parseAs: 'string'},
      async (_: FastifyRequest, text: string) => parsedForm(text),
    )
    scope.addContentTypeParser('*', {parseAs: 'buffer'}, async (_: FastifyRequest, body: Buffer) => {
      if (body.length > 0)
        throw new Refusal('body.content_type', {content_type: 'of the request', expected: 'application/json'})
      return {}
    })
    scope.setErrorHandler((fault, request, reply) => refuse(fault, request, reply, services))
    scope.addHook('onRequest', (request, reply) => admit(request, reply, services))
    scope.addHook('preHandler', requireNoNul)
    scope.addHook('onRoute', route => {
      route.bodyLimit ??= BODY_LIMIT
    })
    for (const routes of [
      ...[pageRoutes, loginRoutes, oidcRoutes, samlRoutes, ldapRoutes, passwordRoutes],
      ...[sessionRoutes, deviceRoutes, commandRoutes, backchannelRoutes],
    ])
      routes(scope, services)
  })
}

async function admit(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  const request_id = newTimeId(services.now().getTime())
  noteClient(request, request_id, services)
  reply.headers({...HEADERS, 'x-gateway-trace-id': request_id})
  // ENABLE_CORS is for calls and for the administration: no other origin reads who is signed in
  for (const name of OF_OTHER_ORIGINS) reply.removeHeader(name)
  // a browser that fetches ahead would use up what is used once
  if (request.method === 'HEAD' || isAhead(request)) return reply.code(204).send()
}

/**
 * Texts may reach a database, and PostgreSQL takes no NUL character: a stranger's would be a fault of ours. What a
 * person types to be known by is only compared, and a wrong name or password is refused as any other.
 */
async function requireNoNul({params, query, body}: FastifyRequest) {
  const {username: _, password: __, ...kept} = (body ?? {}) as Record<string, unknown>
  const [name] = findNul(query) ?? findNul(kept) ?? (findNul(params) ? ['the path'] : [])
  if (name !== undefined) throw new Refusal('body.invalid', {issues: `${name}: must hold no NUL character.`})
}

function isAhead({method, headers}: FastifyRequest): boolean {
  if (method !== 'GET') return false
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-moz']].join(' ')
  return /\b(?:prefetch|prerender|preview)\b/i.test(purposes)
}

function parsedJson(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  checkDepth(text, 'The request body')
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new Refusal('body.not_json', {reason: 'it cannot be parsed'})
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal('body.invalid', {issues: 'the request body: must be an object.'})
  return body as Record<string, unknown>
}

/** A field that comes twice is none: readers would differ in which of them counts. */
function parsedForm(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in fields) throw new Refusal('body.invalid', {issues: 'A field comes twice.'})
    fields[name] = value
  }
  return fields
}

function refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  const fault = thrown instanceof SignInFault || thrown instanceof Refusal ? thrown : refusalOf(thrown)
  const view = viewOfFault(fault)
  const {request_id} = clientOf(request)
  if (fault instanceof Refusal && fault.code === 'internal')
    services.log.error({fault: thrown, request_id}, 'a sign-in failed inside the gateway')
  if (fault instanceof Refusal && fault.retry_after_s !== null) reply.header('retry-after', fault.retry_after_s)
  if (view.status === 429) reply.header('retry-after', 900)
  if (wantsJson(request))
    return reply
      .code(view.status)
      .send({success: false, data: {message: view.message, errorCode: view.error_code, ...more(fault, services)}})
  // the refusal of a place would come again there
  const is_of_place = fault instanceof SignInFault && fault.reason === 'insecure'
  const next = is_of_place ? null : {href: '/v2/auth/sign-in', text: 'Sign in'}
  const page = errorPage({title: 'You are not signed in', message: view.message, trace_id: request_id, next})
  return reply.code(view.status).type('text/html; charset=utf-8').send(page)
}

function more(fault: unknown, {base_url}: SignInServices) {
  if (!(fault instanceof Refusal) || fault.code !== 'session.way') return {}
  return {login_url: `${base_url}/v2/auth/login`}
}

function viewOfFault(fault: SignInFault | Refusal): RefusalView {
  if (fault instanceof SignInFault) return viewOf(fault)
  return {status: fault.status, message: fault.message, error_code: fault.codes.admin}
}

function refusalOf(fault: unknown): Refusal {
  const {statusCode = 500} = fault as {readonly statusCode?: number}
  if (statusCode === 413) return new Refusal('body.too_large', {limit_mb: BODY_LIMIT / 1024 / 1024})
  if (statusCode < 500) return new Refusal('body.invalid', {issues: 'The request cannot be read.'})
  return storeRefusal(fault) ?? new Refusal('internal')
}
