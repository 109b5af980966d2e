import type {Seal} from '../base/seal.ts'
import type {DescribedText} from '../cache/semantic/described-text.ts'
import type {EmbeddingPayer} from '../cache/semantic/embedder.ts'
import type {GateMode} from '../cache/semantic/gate/index.ts'
import type {CheckServices} from '../guardrails/check-services.ts'
import type {Access} from '../identity/access.ts'
import type {SsoConnection} from '../identity/connections.ts'
import type {Tokens} from '../identity/jwt/tokens.ts'
import type {LdapDirectories} from '../identity/ldap/directory.ts'
import type {OidcProviders} from '../identity/oidc/provider.ts'
import type {SamlProviders} from '../identity/saml/providers.ts'
import type {SignInNeeds} from '../identity/sign-in-needs.ts'
import type {EntityLimit, Limits} from '../limits/index.ts'
import type {LookForTxt} from '../ports/dns/txt.ts'
import type {LetterFacts} from '../ports/mail/mail-templates.ts'
import type {Pricing} from '../pricing/open.ts'
import type {CacheKind, KeptEntry, KeptFilter} from '../schema/cache.ts'
import type {Explain} from '../schema/explanations.ts'
import type {McpTokensUpdate} from '../schema/mcp-connections.ts'
import type {TriedMcpServer} from '../schema/mcp-tests.ts'
import type {Page, Paged} from '../schema/paging.ts'
import type {LogBodies, Settlement} from '../schema/records.ts'
import type {OpenReplay} from '../schema/replays.ts'
import type {ReferenceTest} from '../secrets/port.ts'
import type {Settings} from '../settings/index.ts'
import type {FindBodies, FindManyBodies} from '../store/bodies/index.ts'
import type {Db, Store} from '../store/database.ts'
import type {McpConnectionsTable} from '../store/tables/mcp-connections.ts'
import type {McpIntegrationsTable, SecretReferencesTable} from '../store/tables/registry.ts'

/** The caller of the administration: a key, a token, a user by his session, or the operator on the data directory. */
export type Actor = Access

/** The jobs that write exports, as operations ask for them. */
export interface ExportPort {
  /** Makes the place of the file; before the status shows that the job is in progress. */
  reserve(id: string): void
  start(id: string, run: string): Promise<void>
  /** The path of the finished file; undefined where it is not here. */
  file(id: string): Promise<string | undefined>
}

/** How domains are proven. */
export interface DomainProofs {
  readonly look: LookForTxt
  /** Sends a code, at once; null where there is no mail server. Throws MailFault. */
  readonly mail: ((to: string, facts: LetterFacts) => Promise<void>) | null
}

/** The servers of MCP, as the administration tries them and has them read. */
export interface McpPort {
  /** Probes a server, as a user where one is named; whatever happens is in what it gives, within its time. */
  tried(integration: McpIntegrationsTable, user_id: string | null): Promise<TriedMcpServer>
  /** JSON object of tokens that a user brings, as connections keep them; `before`: what the user had. */
  givenTokens(
    integration: McpIntegrationsTable,
    given: McpTokensUpdate,
    before: McpConnectionsTable | undefined,
  ): object | Promise<object>
  /** Has the tokens of a connection that was deleted revoked at its server; at its leisure, whatever comes of it. */
  revokeTokens(connection: McpConnectionsTable): void
  /** Reads a server now, where this process does so; a row says that it is due. */
  wake(integration_id: string): void
}

/** The cache of calls, as the administration sees it. */
export interface CachePort {
  /** Entries of one kind, the newest first. */
  list(kind: CacheKind, filter: KeptFilter, page: Page): Promise<Paged<KeptEntry>>
  /** Forgets entries; how many there were. Other processes forget their copies after the next revision. */
  clear(kind: CacheKind, filter: KeptFilter): Promise<number>
  /** The embedder as calls use it; null where there is none. */
  describer(): Promise<TextDescriber | null>
}

/** The caller that an evaluation is charged to. */
export interface EvaluationPayer extends EmbeddingPayer {
  /** Its limits and those of its workspace: each request for an embedding needs room in all of them. */
  readonly limits: readonly (EntityLimit & {readonly organisation_id: string})[]
  /** Called with the refusal of a request that did not leave. */
  readonly onRefused: (refusal: unknown) => void
}

/** Describes texts as the semantic cache compares them. */
export interface TextDescriber {
  readonly embedder: string
  /** The operator's least cosine. */
  readonly threshold: number
  readonly gate: GateMode
  /** Null for a text that is not compared. */
  describe(text: string, payer: EvaluationPayer): Promise<DescribedText | null>
}

/** The services of the administration. Narrow on purpose: the composition root gives it. */
export interface AdminServices {
  readonly store: Store
  /** Puts a row into the log, behind everything recorded before; only where the gateway runs. */
  insert_log?(row: Settlement, bodies: LogBodies | null): void
  /** The jobs that write exports of the log. */
  readonly exports?: ExportPort
  /** The reader for queries that take time, off the main thread; without it the main connection runs them. */
  readonly reads?: Db
  readonly settings: Settings
  readonly seal: Seal
  /** Judges tokens of identity providers, where they are taken. */
  readonly tokens?: Pick<Tokens, 'verified' | 'tried' | 'triedKeys'>
  /** Judges the keys of people who have to sign in now and then. */
  readonly sign_in_needs: Pick<SignInNeeds, 'check'>
  /** The clients of identity providers, with which connections are tried. */
  readonly providers?: {
    oidc(issuer: string): Promise<OidcProviders>
    saml(): Promise<SamlProviders>
    ldap(): Promise<LdapDirectories>
  }
  readonly domain_proofs?: DomainProofs
  readonly mcp?: McpPort
  /** Reads a secret at its manager, to say whether calls can use it. */
  testReference?(reference: SecretReferencesTable): Promise<ReferenceTest>
  /** The connection that the settings of the installation describe; null for none. */
  readonly environment_connection?: SsoConnection | null
  /** The prices that calls are charged at; without them the bundled ones and the operator's local files are opened. */
  readonly pricing?: Pricing
  /** The bodies of log rows. */
  readonly bodies: FindBodies
  /** The same for a page of rows; without it each is looked for. */
  readonly many_bodies?: FindManyBodies
  /** The limits that calls are held to; without a data plane there are none, and budgets are read from the ledger. */
  readonly limits?: Pick<Limits, 'read' | 'readRates'>
  /** Explains the outcome of a call; absent without the services of the data plane. */
  readonly explain?: Explain
  /** The same of calls that were made. */
  readonly replay?: OpenReplay
  /** The cache; without it there is none to list or to clear. */
  readonly cache?: CachePort
  /** The services that the checks of a workspace's guardrails use when they are tried. */
  readonly check_services?: (workspace_id: string) => Promise<CheckServices>
  now(): Date
  /** Notes a fault of our own, with its cause, under the id that the reply carries. */
  failed?(cause: unknown, where: {readonly operation: string; readonly request_id: string}): void
  /** Waits until the log holds every call that had ended before; for reads that follow a call at once. */
  settled?(): Promise<void>
}
