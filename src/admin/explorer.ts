import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {type AssetName, readAsset} from '../base/runtime.ts'
import {KeptReply} from './kept-reply.ts'

/** The files of the page, below `/docs/`. Everything comes from here: a browser needs no other network. */
const FILES: readonly AssetName[] = [
  'explorer.css',
  'explorer.js',
  'swagger-ui.css',
  'swagger-ui.js',
  'swagger-ui.LICENSE.txt',
  'swagger-ui.NOTICE.txt',
  'swagger-ui-bundle.js.LICENSE.txt',
]

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
}

/** Nothing is run, styled or loaded but what this server sends; images in its style sheets are `data:`. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const

/**
 * Serves the explorer of the interface at `/docs`, to everyone: it says what `/v1/openapi.json` says. A key that is
 * typed in stays in the page.
 */
export function mountExplorer(server: FastifyInstance): void {
  server.get('/docs', (request, reply) => send('explorer.html', request, reply))
  // addresses in the page are relative to it, so that it works below a path of a proxy too
  server.get('/docs/', (_, reply) => reply.redirect('../docs', 308))
  for (const name of FILES) server.get(`/docs/${name}`, (request, reply) => send(name, request, reply))
}

async function send(name: AssetName, request: FastifyRequest, reply: FastifyReply) {
  const kept = await loaded(name)
  reply.headers(HEADERS)
  return kept.send(TYPES[name.slice(name.lastIndexOf('.') + 1)]!, request, reply)
}

const known = new Map<AssetName, Promise<KeptReply>>()

function loaded(name: AssetName): Promise<KeptReply> {
  const before = known.get(name)
  if (before) return before
  const now = readAsset(name).then(KeptReply.of)
  known.set(name, now)
  return now
}
