import type {IncomingHttpHeaders} from 'node:http'
import {hashOfWord} from '../../identity/mcp-oauth/words.ts'
import {isEqual} from '../../identity/page-proof.ts'
import type {Db} from '../../store/database.ts'
import type {OAuthServices} from '../services.ts'
import {OAuthFault} from '../wire/fault.ts'
import type {OAuthFields} from '../wire/fields.ts'
import {findClient, type OAuthClient} from './client.ts'

interface SentCredentials {
  readonly client_id: string
  readonly client_secret: string | undefined
}

/** The client that sends a request: a public one by its id, a confidential one by its secret. */
export async function authenticatedClient(
  db: Db,
  {settings}: Pick<OAuthServices, 'settings'>,
  request: {readonly headers: IncomingHttpHeaders; readonly fields: OAuthFields},
): Promise<OAuthClient> {
  const {client_id, client_secret} = sentCredentials(request.headers, request.fields)
  const client = await findClient(db, settings, client_id)
  if (!client) throw unknown()
  if (client.secret_hash === null) {
    if (client_secret !== undefined) throw new OAuthFault('invalid_client', 'This client has no secret.')
    return client
  }
  if (client_secret === undefined || !isEqual(hashOfWord(client_secret), client.secret_hash)) throw unknown()
  return client
}

/** True where a request shows the credentials of a client by HTTP Basic: a refusal then names Basic (RFC 6749, 5.2). */
export function triesBasic({authorization}: IncomingHttpHeaders): boolean {
  return /^basic\b/i.test(authorization ?? '')
}

function sentCredentials(headers: IncomingHttpHeaders, fields: OAuthFields): SentCredentials {
  const [client_id, client_secret] = [fields.text('client_id'), fields.text('client_secret')]
  if (!triesBasic(headers)) {
    if (client_id === undefined) throw new OAuthFault('invalid_client', 'client_id: is required.')
    return {client_id, client_secret}
  }
  const basic = readBasic(headers.authorization!)
  if (client_secret !== undefined)
    throw new OAuthFault('invalid_request', 'A client shows its secret in one place: Basic or client_secret.')
  if (client_id !== undefined && client_id !== basic.client_id)
    throw new OAuthFault('invalid_request', 'client_id: differs from that of Basic.')
  return basic
}

/** Both parts are percent-encoded before they are joined (RFC 6749, 2.3.1). */
function readBasic(authorization: string): SentCredentials {
  const [, base64] = /^basic +([\w+/=-]{1,8192}) *$/i.exec(authorization) ?? []
  const text = Buffer.from(base64 ?? '', 'base64').toString('utf8')
  const at = text.indexOf(':')
  if (at < 1) throw new OAuthFault('invalid_client', 'The credentials of Basic cannot be read.')
  try {
    const client_id = decodeURIComponent(text.slice(0, at).replaceAll('+', ' '))
    const client_secret = decodeURIComponent(text.slice(at + 1).replaceAll('+', ' '))
    return {client_id, client_secret: client_secret === '' ? undefined : client_secret}
  } catch {
    throw new OAuthFault('invalid_client', 'The credentials of Basic cannot be read.')
  }
}

/** In the same words for a client that never was and for a wrong secret. */
function unknown(): OAuthFault {
  return new OAuthFault('invalid_client', 'This client is not known here, or its secret is wrong. Register it again.')
}
