import fastify, {type FastifyError, type FastifyInstance} from 'fastify'
import {govern} from '../base/ingress/govern.ts'
import type {Governor} from '../base/ingress/governor.ts'
import type {Log} from '../base/log.ts'
import type {Settings} from '../settings/index.ts'
import type {OpenAnswers} from './open-answers.ts'
import {toOriginForm} from './origin-form.ts'
import {refuseRequest, refuseUnread} from './refused-requests.ts'
import {answerPreflights, listener, notFound, ROUTING} from './server.ts'

interface McpListenerParts {
  readonly settings: Settings
  readonly log: Log
  readonly version: string
  /** That of the first listener: connections of both count together. */
  readonly governor: Governor
  readonly answers: OpenAnswers
  /** Mounts the addresses of MCP. */
  readonly mount: (server: FastifyInstance) => void
}

const BODY_LIMIT = 64 * 1024

/** The second listener (MCP_PORT): addresses of MCP and /health, and nothing else. It does not listen yet. */
export function createMcpListener({settings, log, version, governor, answers, mount}: McpListenerParts) {
  const server = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: 'idle',
    routerOptions: ROUTING,
    clientErrorHandler: refuseUnread,
    frameworkErrors: (fault, request, reply) => refuseRequest(fault, request, reply, log),
    serverFactory: answer =>
      listener(settings, (request, response) => {
        toOriginForm(request)
        answer(request, response)
      }),
  })
  answers.watch(server)
  govern(server.server, governor)
  if (settings.enable_cors) answerPreflights(server, settings)
  const {service_name: service} = settings
  server.get('/health', (_, reply) => reply.send({status: 'success', message: `${service} is up`, version, service}))
  mount(server)
  server.setNotFoundHandler(notFound)
  // an unknown path is refused before a body is read
  server.addHook('onRequest', async (request, reply) => (request.is404 ? notFound(request, reply) : undefined))
  server.setErrorHandler<FastifyError>((fault, request, reply) => refuseRequest(fault, request, reply, log))
  return server
}
