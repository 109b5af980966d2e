import type {FastifyInstance, FastifyReply} from 'fastify'
import {RESOURCE_DOCUMENT, readMcpPath} from '../../identity/mcp-oauth/resources.ts'
import type {OAuthServices} from '../services.ts'
import {resourceDocument, serverDocument} from '../wire/documents.ts'
import {answerPreflight, openToPages} from './visits.ts'

const SERVER_DOCUMENT = '/.well-known/oauth-authorization-server'
const MAX_AGE_S = 300

/** The documents by which a client finds its way (RFC 9728, RFC 8414). They say nothing of which servers there are. */
export function documentRoutes(scope: FastifyInstance, {base_url, settings}: OAuthServices): void {
  const facts = {base_url, reads_client_documents: settings.mcp_cimd_hosts.length > 0}
  scope.get(`${RESOURCE_DOCUMENT}/*`, (request, reply) => {
    const names = readMcpPath(rest(request.url, RESOURCE_DOCUMENT))
    return names ? send(reply, resourceDocument(names, facts)) : absent(reply)
  })
  scope.get(`${SERVER_DOCUMENT}/*`, (request, reply) =>
    readMcpPath(rest(request.url, SERVER_DOCUMENT)) ? send(reply, serverDocument(facts)) : absent(reply),
  )
  scope.get(SERVER_DOCUMENT, (_, reply) => send(reply, serverDocument(facts)))
  // one host has many resources, and no ID tokens are given
  for (const path of [RESOURCE_DOCUMENT, '/.well-known/openid-configuration', '/.well-known/openid-configuration/*'])
    scope.get(path, (_, reply) => absent(reply))
  scope.options('/.well-known/*', (_, reply) => answerPreflight(reply, 'GET'))
}

/** The path behind a prefix, letter by letter. */
function rest(url: string, prefix: string): string {
  return url.split('?', 1)[0]!.slice(prefix.length)
}

function send(reply: FastifyReply, document: object) {
  openToPages(reply)
  return reply.header('cache-control', `public, max-age=${MAX_AGE_S}`).send(document)
}

function absent(reply: FastifyReply) {
  openToPages(reply)
  return reply.code(404).send({error: 'not_found', error_description: 'There is no such document.'})
}
