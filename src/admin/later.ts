import type {FastifyInstance} from 'fastify'
import {Refusal} from '../base/errors.ts'

/** Paths after `/v1` that the administration will serve and this version does not: answered 501, never proxied (decisions: paths). */
export const LATER: readonly string[] = [
  '/admin/users',
  '/admin/users/*',
  '/admin/workspaces/:workspaceId/users',
  '/admin/workspaces/:workspaceId/users/*',
  '/analytics/*',
  '/api-keys/:id/rotate',
  '/api-keys/self/details',
  '/collections',
  '/collections/*',
  '/deployments',
  '/deployments/*',
  '/feedback/*',
  '/guardrails',
  '/guardrails/*',
  '/labels',
  '/labels/*',
  '/logs/exports',
  '/logs/exports/*',
  '/logs/groups/*',
  '/mcp-integrations',
  '/mcp-integrations/*',
  '/mcp-servers',
  '/mcp-servers/*',
  '/oauth/*',
  '/organisation/*',
  '/policies/*',
  '/prompts',
  '/prompts/*',
  '/saved-filters',
  '/saved-filters/*',
  '/scim/*',
  '/secret-references',
  '/secret-references/*',
  '/spans',
  '/traces',
  '/traces/*',
]

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
