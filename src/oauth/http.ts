import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {parseJson, TooDeepFault} from '../base/json-object.ts'
import {storeRefusal} from '../base/store-fault.ts'
import {errorPage} from '../identity/plain-page.ts'
import {triesBasic} from './clients/authentication.ts'
import {AuthorizationFault, answerTo} from './consent/request.ts'
import {authorizeRoutes} from './routes/authorize.ts'
import {documentRoutes} from './routes/documents.ts'
import {tokenRoutes} from './routes/tokens.ts'
import {noteVisit, visitOf} from './routes/visits.ts'
import type {OAuthServices} from './services.ts'
import {type OAuthError, OAuthFault, OAuthPageFault} from './wire/fault.ts'

const BODY_LIMIT = 64 * 1024
const RETRY_AFTER_S = 60
const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

/** Serves the authorization server of MCP: `/oauth/…` and the documents below `/.well-known`. */
export function mountOAuth(server: FastifyInstance, services: OAuthServices): void {
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
        throw new OAuthFault('invalid_request', 'content-type: must be application/x-www-form-urlencoded.')
      return {}
    })
    scope.setErrorHandler((fault, request, reply) => refuse(fault, request, reply, services))
    scope.addHook('onRequest', async (request, reply) => {
      const {request_id} = noteVisit(request, services)
      reply.headers({...HEADERS, 'x-gateway-trace-id': request_id})
    })
    scope.addHook('onRoute', route => {
      route.bodyLimit ??= BODY_LIMIT
    })
    for (const routes of [documentRoutes, authorizeRoutes, tokenRoutes]) routes(scope, services)
  })
}

function parsedJson(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return parseJson(text)
  } catch (fault) {
    const why = fault instanceof TooDeepFault ? 'is nested too deep' : 'is not JSON'
    throw new OAuthFault('invalid_request', `The body ${why}.`)
  }
}

/** A field that comes twice is a list, which is refused where it is read. */
function parsedForm(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text))
    fields[name] = name in fields ? [fields[name], value].flat() : value
  return fields
}

/** People read a page, clients JSON; a client whose redirect URI was proven hears at that. */
function refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply, services: OAuthServices) {
  const {request_id} = visitOf(request)
  if (thrown instanceof AuthorizationFault) {
    const answer = {error: thrown.error, error_description: described(thrown.message)}
    return reply.redirect(answerTo(thrown.at, services, answer), 302)
  }
  const fault = thrown instanceof OAuthPageFault ? thrown : faultOf(thrown)
  if (fault instanceof OAuthFault && fault.error === 'server_error')
    services.log.error({fault: thrown, request_id}, 'a request of OAuth failed inside the gateway')
  if (fault.status === 429 || fault.status === 503) reply.header('retry-after', RETRY_AFTER_S)
  if (fault instanceof OAuthPageFault || isOfPerson(request)) {
    const view = {title: 'This did not work', message: fault.message, trace_id: request_id, next: null}
    return reply.code(fault.status).type('text/html; charset=utf-8').send(errorPage(view))
  }
  if (fault.error === 'invalid_client' && triesBasic(request.headers))
    reply.header('www-authenticate', 'Basic realm="gateway", charset="UTF-8"')
  return reply.code(fault.status).send({error: fault.error, error_description: described(fault.message)})
}

function isOfPerson({routeOptions}: FastifyRequest): boolean {
  return /\/(?:authorize|consent|connect)$/.test(routeOptions.url ?? '')
}

function faultOf(fault: unknown): OAuthFault {
  if (fault instanceof OAuthFault) return fault
  const {statusCode = 500} = fault as {readonly statusCode?: number}
  if (statusCode === 413) return new OAuthFault('invalid_request', `The body is larger than ${BODY_LIMIT} bytes.`)
  if (statusCode >= 400 && statusCode < 500) return new OAuthFault('invalid_request', 'The request cannot be read.')
  const refusal = storeRefusal(fault)
  const error: OAuthError = refusal ? 'temporarily_unavailable' : 'server_error'
  return new OAuthFault(error, refusal?.message ?? 'The gateway failed. Its log has the cause, by x-gateway-trace-id.')
}

/** The characters that `error_description` may have (RFC 6749, 5.2). */
function described(message: string): string {
  return message
    .replaceAll('’', "'")
    .replaceAll('"', "'")
    .replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, ' ')
    .slice(0, 500)
}
