import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import type {Access} from '../identity/access.ts'
import type {Showing} from '../identity/authenticator.ts'
import type {CookieJar} from '../identity/cookies.ts'
import type {Settings} from '../settings/index.ts'
import type {Store} from '../store/database.ts'
import type {McpServerNames, OAuthServer} from '../store/oauth-servers.ts'

/** The services of the authorization server; the composition root gives them. */
export interface OAuthServices {
  readonly store: Store
  readonly settings: Settings
  readonly seal: Seal
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  now(): Date
  /** The address of MCP, and so the issuer: `https://mcp.example.com`, without a slash at its end. */
  readonly base_url: string
  /** The address at which people sign in, and where the page of consent is: their cookie belongs to it. */
  readonly people_url: string
  readonly cookies: CookieJar
  /** Reads the document of a client, through the wall. Throws what the wall, the network or a bound refuses. */
  readDocument(url: string): Promise<DocumentReply>
  /** The caller who has an API key; refuses with a `Refusal`. */
  accessByKey(key: string, showing: Showing): Promise<Access>
  /**
   * The path at which a person signs in at a server that wants him to, and that he has no connection with; he comes
   * back to the path `return_to`. Null where there is nothing to do. Absent: no one is sent there.
   */
  readonly upstreamLink?: (asked: UpstreamLinkRequest) => Promise<string | null>
  /**
   * The address of the provider at which people of this server sign in instead of here, and a word for a cookie of
   * their browser. Null where they sign in here. Refuses with an `OAuthPageFault`.
   */
  readonly externalStart?: (asked: ExternalStartRequest) => Promise<{location: string; browser: string} | null>
}

export interface UpstreamLinkRequest {
  readonly server: OAuthServer
  readonly user_id: string
  readonly return_to: string
}

/** An answer with a client's document: at most 64 KiB, within 5 seconds, no redirect followed. */
export interface DocumentReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** The one who sent a request, for rows and limits. */
export interface OAuthVisit {
  readonly request_id: string
  readonly client_ip: string
}

export interface ExternalStartRequest {
  readonly transaction_id: string
  readonly handle: string
  readonly names: McpServerNames
}
