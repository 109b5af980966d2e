import {createHash, randomUUID} from 'node:crypto'
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {type Signer, signedToken, signer} from '../../support/tokens.ts'

type Json = Record<string, unknown>

/** An answer that is not what a provider answers with. */
export class RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A number: so many bytes; null: it never ends. */
  readonly body: string | number | null

  constructor(status: number, body: string | number | null, headers: Readonly<Record<string, string>> = {}) {
    this.status = status
    this.headers = {'content-type': 'application/json', ...headers}
    this.body = body
  }
}

/** Makes another answer of the good one. */
export type Lie = (good: Json) => unknown

/** All that may be wrong with a provider; it is a good one without any. */
export interface Lies {
  readonly discovery?: Lie
  readonly keys?: Lie
  /** The reply of the token endpoint. */
  readonly token?: Lie
  readonly userinfo?: Lie
  /** Members of the ID token in place of the good ones; undefined takes one out. */
  readonly header?: Json
  readonly claims?: Json
  /** The payload as text, before it is signed. */
  readonly payload?: (good: string) => string
  readonly signed_by?: Signer
  readonly id_token?: (good: string) => string
  /** The query with which the browser comes back. */
  readonly answer?: (params: URLSearchParams) => void
}

export interface LyingProvider {
  readonly issuer: string
  readonly client_id: string
  /** The key that its set has, unless a lie says otherwise. */
  readonly key: Signer
  /** Requests, `METHOD /path`, in their order, with their headers and bodies. */
  readonly requests: readonly {
    readonly line: string
    readonly headers: IncomingMessage['headers']
    readonly body: string
  }[]
  /** From now on, in place of the lies before. */
  lie(lies: Lies): void
  /** Opens the address of a sign-in, and resolves to the one at which the browser comes back at once. */
  answerTo(url: string): Promise<URL>
  close(): Promise<void>
}

const CLIENT_ID = 'gateway'
/** To make a pair costs more than to answer: all of them sign with one. */
const KEY = signer('RS256', 'lying')

/** A provider on loopback that signs `mia@example.test` in without a question, and lies as it should. */
export async function startLyingProvider(): Promise<LyingProvider> {
  let lies: Lies = {}
  const requests: {line: string; headers: IncomingMessage['headers']; body: string}[] = []
  const nonces = new Map<string, string>()
  const server = createServer((request, response) => {
    void bodyOf(request).then(body => {
      const url = new URL(request.url!, issuer)
      requests.push({line: `${request.method} ${url.pathname}`, headers: request.headers, body})
      answer(url, new URLSearchParams(body), response)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function answer(url: URL, form: URLSearchParams, response: ServerResponse) {
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return send(response, changed(lies.discovery, discoveryOf(issuer)))
      case '/keys':
        return send(response, changed(lies.keys, {keys: [{...KEY.jwk, use: 'sig', alg: 'RS256'}]}))
      case '/authorize': {
        const code = randomUUID()
        nonces.set(code, url.searchParams.get('nonce') ?? '')
        const back = new URL(url.searchParams.get('redirect_uri')!)
        const params = {code, state: url.searchParams.get('state') ?? '', iss: issuer}
        for (const [name, value] of Object.entries(params)) back.searchParams.set(name, value)
        lies.answer?.(back.searchParams)
        response.writeHead(302, {location: back.href}).end()
        return
      }
      case '/token': {
        const access_token = `access-${randomUUID()}`
        const id_token = idTokenOf({issuer, nonce: nonces.get(form.get('code') ?? ''), access_token}, lies)
        return send(response, changed(lies.token, {token_type: 'Bearer', expires_in: 60, access_token, id_token}))
      }
      case '/userinfo':
        return send(
          response,
          changed(lies.userinfo, {sub: 'subject-1', email: 'mia@example.test', email_verified: true}),
        )
      default:
        response.writeHead(404).end()
    }
  }

  return {
    issuer,
    client_id: CLIENT_ID,
    key: KEY,
    requests,
    lie(others) {
      lies = others
    },
    async answerTo(url) {
      const reply = await fetch(url, {redirect: 'manual'})
      return new URL(reply.headers.get('location')!)
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function discoveryOf(issuer: string): Json {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    userinfo_endpoint: `${issuer}/userinfo`,
    end_session_endpoint: `${issuer}/logout`,
    authorization_response_iss_parameter_supported: true,
    scopes_supported: ['openid', 'email', 'profile'],
  }
}

/** `at_hash` of an access token for a hash (OpenID Connect Core 1.0 §3.1.3.6). */
export function accessHash(access_token: string, hash = 'sha256'): string {
  const whole = createHash(hash).update(access_token).digest()
  return whole.subarray(0, whole.length / 2).toString('base64url')
}

interface OfSignIn {
  readonly issuer: string
  readonly nonce: string | undefined
  readonly access_token: string
}

function idTokenOf({issuer, nonce, access_token}: OfSignIn, lies: Lies): string {
  const now_s = Math.floor(Date.now() / 1000)
  const by = lies.signed_by ?? KEY
  const hash = by.alg === 'EdDSA' ? 'sha512' : `sha${by.alg.slice(2)}`
  const claims = {
    ...{iss: issuer, sub: 'subject-1', aud: CLIENT_ID, nonce, iat: now_s, exp: now_s + 300},
    ...{at_hash: accessHash(access_token, hash), email: 'mia@example.test', email_verified: true},
    ...lies.claims,
  }
  const payload = JSON.stringify(claims)
  const token = signedToken(
    {alg: by.alg, typ: 'JWT', kid: by.kid, ...lies.header},
    lies.payload?.(payload) ?? payload,
    by,
  )
  return lies.id_token?.(token) ?? token
}

function changed(lie: Lie | undefined, good: Json): unknown {
  return lie ? lie(good) : good
}

const CHUNK = Buffer.alloc(64 << 10, ' ')

function send(response: ServerResponse, value: unknown) {
  const {status, headers, body} = value instanceof RawReply ? value : new RawReply(200, JSON.stringify(value))
  response.writeHead(status, headers)
  if (typeof body === 'string') response.end(body)
  else if (body === null) response.flushHeaders()
  else sendBytes(response, body)
}

function sendBytes(response: ServerResponse, left: number) {
  if (left <= 0) response.end()
  else if (!response.destroyed) response.write(CHUNK, () => sendBytes(response, left - CHUNK.length))
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
