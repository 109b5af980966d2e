import type {FastifyInstance} from 'fastify'
import {Refusal} from '../base/errors.ts'
import {newTimeId} from '../base/ids.ts'
import {refusalIdHeaders} from '../schema/headers.ts'
import {FLAGS} from '../settings/flags.ts'
import type {Settings} from '../settings/index.ts'

/**
 * Paths after `/v1` that the administration will serve and this version does not: answered 501, never proxied
 * (decisions: paths).
 */
export const NOT_AVAILABLE: readonly string[] = ['/mcp-integrations/*', '/mcp-servers/*', '/oauth/*', '/organisation/*']

/** Answers every method on the paths of `NOT_AVAILABLE`; where administration is switched off, as all of it does. */
export function mountLater(server: FastifyInstance, settings: Pick<Settings, 'api_access_enabled'>): void {
  server.register(async scope => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const path of NOT_AVAILABLE) {
      scope.all(`/v1${path}`, (request, reply) => {
        const refusal = refusalOf(request.url.split('?', 1)[0]!)
        return reply
          .code(refusal.status)
          .headers(refusalIdHeaders(request.headers, newTimeId(Date.now())))
          .send({success: false, data: {message: refusal.message, errorCode: refusal.codes.admin}})
      })
    }
  })
  const refusalOf = (path: string) => {
    if (!settings.api_access_enabled) return new Refusal('flag.off', {variable: FLAGS.api_access.env})
    return new Refusal('route.later', {path})
  }
}
