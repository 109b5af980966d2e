import type {FastifyReply, FastifyRequest} from 'fastify'
import {newTimeId} from '../../base/ids.ts'
import {clientAddress} from '../../base/ingress/client-address.ts'
import type {OAuthServices, OAuthVisit} from '../services.ts'

const visits = new WeakMap<FastifyRequest, OAuthVisit>()

export function noteVisit(
  request: FastifyRequest,
  {now, settings}: Pick<OAuthServices, 'now' | 'settings'>,
): OAuthVisit {
  const client_ip = clientAddress(request.raw, settings.trusted_proxies)
  const visit = {request_id: newTimeId(now().getTime()), client_ip}
  visits.set(request, visit)
  return visit
}

export function visitOf(request: FastifyRequest): OAuthVisit {
  return visits.get(request)!
}

const EXPOSED = 'WWW-Authenticate, Retry-After'
const ALLOWED = 'content-type, accept, authorization, mcp-protocol-version'

/** Lets pages of any origin read an answer. Cookies do not come along: nothing here reads one. */
export function openToPages(reply: FastifyReply): void {
  reply.headers({'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED})
}

/** Answers the question of a browser that comes before such a request. */
export function answerPreflight(reply: FastifyReply, methods: string) {
  openToPages(reply)
  reply.headers({'access-control-allow-methods': methods, 'access-control-allow-headers': ALLOWED})
  return reply.header('access-control-max-age', '600').code(204).send()
}
