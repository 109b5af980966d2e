import type {JsonObject} from '../../../base/json-member.ts'
import {AuthServerFault} from '../auth-server-fault.ts'
import {askerOf, type CalledIntegration, type CredentialServices} from '../services.ts'
import type {SignInChallenge} from './challenge.ts'
import {firstDocument, secureAddress, shownUrl, textIn, textsIn, wellKnown} from './documents.ts'
import {isResourceOf} from './issuers.ts'

/** The statement of a server about its authorization (RFC 9728), as far as a client needs it. */
export interface ProtectedResource {
  /** Letter by letter as the document has it; the address of the server where it has no document. */
  readonly resource: string
  /** Null: no document names one. */
  readonly issuer: string | null
  readonly scopes_supported: readonly string[] | null
}

const NAME = 'oauth-protected-resource'

/** Reads it from the address of the challenge, else from the two of the protocol. Refuses with an `AuthServerFault`. */
export async function protectedResource(
  services: Pick<CredentialServices, 'fetch'>,
  integration: CalledIntegration,
  challenge: SignInChallenge | null,
): Promise<ProtectedResource> {
  const {url} = integration
  const named = challenge?.resource_metadata
  const root = `${new URL(url).origin}/.well-known/${NAME}`
  const urls = named ? [secureAddress(named, 'resource_metadata', url)] : [...new Set([wellKnown(url, NAME), root])]
  const found = await firstDocument(services, urls, askerOf(integration))
  if (found) return read(found.document, url)
  if (named)
    throw new AuthServerFault('unfit', `the address that the server names has no resource document: ${shownUrl(named)}`)
  return {resource: addressOf(url), issuer: null, scopes_supported: null}
}

function read(document: JsonObject, url: string): ProtectedResource {
  const resource = textIn(document, 'resource')
  if (resource === null || !isResourceOf(resource, url))
    throw new AuthServerFault(
      'unfit',
      `its resource document is of ${resource ?? 'no resource'}, not of ${shownUrl(url)}`,
    )
  return {
    resource,
    issuer: textsIn(document, 'authorization_servers')?.[0] ?? null,
    scopes_supported: textsIn(document, 'scopes_supported'),
  }
}

function addressOf(url: string): string {
  return url.replace(/[?#].*$/s, '')
}
