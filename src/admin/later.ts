import type {FastifyInstance} from 'fastify'
import {Refusal} from '../base/errors.ts'

/** Paths after `/v1` that the administration will serve and this version does not: answered 501, never proxied (decisions: paths). */
export const LATER: readonly string[] = ['/mcp-integrations/*', '/mcp-servers/*', '/oauth/*', '/organisation/*', '/scim/*']

/** Answers every method on the paths of `LATER`. */
export function mountLater(server: FastifyInstance): void {
  server.register(async scope => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const path of LATER) {
      scope.all(`/v1${path}`, (request, reply) => {
        const refusal = new Refusal('route.later', {path: request.url.split('?', 1)[0]!})
        return reply.code(refusal.status).send({success: false, data: {message: refusal.message, errorCode: refusal.said.admin}})
      })
    }
  })
}
