import {Agent, request} from 'undici'
import type {Egress} from './pools.ts'

interface CredentialRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const PATIENCE_MS = 10_000
const MAX_BYTES = 1 << 20

/**
 * Metadata services of clouds, and of containers in them: the one thing that may be called at link-local addresses, by
 * us alone.
 */
const METADATA: ReadonlySet<string> = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '[fd00:ec2::254]',
  '[fd00:ec2::23]',
  'metadata.google.internal',
])

/**
 * Small calls for credentials: to the metadata services of the machine directly, to all else through the wall. Follows
 * no redirect; a reply longer than 1 MB, or not there within 10 s, is a fault. `named` are origins that the operator
 * named: they may be private.
 */
export function credentialFetch(egress: Pick<Egress, 'destination' | 'pool'>, named: ReadonlySet<string> = new Set()) {
  const metadata = new Agent({connect: {timeout: 1_000}, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS})
  return async ({method, url, headers, body}: CredentialRequest): Promise<{status: number; body: string}> => {
    const {origin, hostname} = new URL(url)
    const asker = named.has(origin)
      ? ({kind: 'integration', id: 'settings', host: hostname} as const)
      : ({kind: 'builtin'} as const)
    const dispatcher = METADATA.has(hostname) ? metadata : egress.pool(egress.destination(origin, asker), '')
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const reply = await request(url, {method, headers, body: body ?? null, dispatcher, signal})
    let text = ''
    for await (const part of reply.body) {
      text += String(part)
      if (text.length > MAX_BYTES) throw new Error('The reply is longer than credentials are.')
    }
    return {status: reply.statusCode, body: text}
  }
}
