import {createHmac} from 'node:crypto'
import type {Authorize, ObjectRequest} from './objects.ts'

const VERSION = '2021-12-02'
/** The standard headers that are signed, in this order; of the rest those of Azure itself are. */
const SIGNED = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
] as const

/** A blob is made whole, in one request (Blob service REST API, "Put Blob"). */
export const azureHeaders = {'x-ms-blob-type': 'BlockBlob'} as const

export interface SharedKey {
  readonly account: string
  /** In base64, as Azure shows it. */
  readonly key: string
  readonly now: () => number
}

/** Source: Microsoft Learn, "Authorize with Shared Key", versions from 2015-02-21 on. */
export function sharedKey({account, key, now}: SharedKey): Authorize {
  const secret = Buffer.from(key, 'base64')
  return async request => {
    const added = azureDate(now())
    const text = toSign({...request, headers: {...request.headers, ...added}}, account)
    const signature = createHmac('sha256', secret).update(text).digest('base64')
    return {...added, authorization: `SharedKey ${account}:${signature}`}
  }
}

/** A token of the gateway's own identity, with what goes beside it. */
export function bearerOf(token: () => Promise<string>, beside: () => Record<string, string> = () => ({})): Authorize {
  return async () => ({...beside(), authorization: `Bearer ${await token()}`})
}

/** The headers that Azure requires of every request. */
export function azureDate(now_ms: number): Record<string, string> {
  return {'x-ms-date': new Date(now_ms).toUTCString(), 'x-ms-version': VERSION}
}

function toSign({method, path, headers, body}: ObjectRequest, account: string): string {
  const length = body?.length ? String(body.length) : ''
  const standard = SIGNED.map(name => (name === 'content-length' ? length : (headers[name] ?? '')))
  const own = Object.entries(headers)
    .filter(([name]) => name.startsWith('x-ms-'))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}:${value.trim()}`)
  return [method, ...standard, ...own, `/${account}${path}`].join('\n')
}
