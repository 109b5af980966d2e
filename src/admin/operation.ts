import type {Readable} from 'node:stream'
import type {z} from 'zod'
import type {FlagName} from '../settings/flags.ts'
import type {Db} from '../store/database.ts'
import type {Actor, AdminServices} from './services.ts'

/** A reply that is a file. */
export class Download {
  readonly stream: Readable
  readonly content_type: string
  readonly name: string
  constructor(stream: Readable, content_type: string, name: string) {
    this.stream = stream
    this.content_type = content_type
    this.name = name
  }
}

type Shape = z.ZodType | undefined
type Out<T extends Shape> = T extends z.ZodType ? z.output<T> : undefined

/** One call of one operation: its checked input, who calls, and the store as this call may use it. */
export interface OperationCall<P extends Shape = undefined, Q extends Shape = undefined, B extends Shape = undefined> {
  readonly params: Out<P>
  readonly query: Out<Q>
  readonly body: Out<B>
  /** The result of `prepare`. */
  readonly prepared: unknown
  readonly actor: Actor
  /**
   * The write transaction for POST, PUT, PATCH and DELETE (the audit row goes into it too), a plain connection for GET.
   * The tables it writes say which caches are emptied.
   */
  readonly db: Db
  readonly app: AdminServices
  /** ISO 8601 UTC, the same for the whole call. */
  readonly now: string
  /** Names the row this call is about, for the audit log; the id of path parameters is the default. */
  auditTarget(resource_id: string, workspace_id?: string | null): void
  /** Names who did it, and in which organisation, where the call made that known; for the audit log. */
  auditActor(actor: Actor): void
  /** The address by which the client reached us, for example `https://gateway.example.com`. */
  readonly origin: string
  /** A page of this gateway asks: its session belongs into a cookie, where no script reads it. */
  readonly is_own_page: boolean
  /** Sets a cookie with the reply. */
  setCookie(cookie: string): void
  /**
   * Writes the audit record of an outcome of an operation that reaches out; `note` is beside its body. Refusals are
   * recorded in a transaction of their own, before they are thrown.
   */
  auditOutcome(db: Db, outcome: CallOutcome): Promise<void>
  /** Has `work` done once the transaction is in, before the reply. */
  afterCommit(work: () => Promise<void> | void): void
}

/** The end of an operation that reaches out. */
export interface CallOutcome {
  readonly status: number
  readonly note: Readonly<Record<string, string>>
}

/** The members of an operation of every kind. */
interface Described<P extends Shape, Q extends Shape, R extends z.ZodType> {
  /** `noun.verb`, for example `api_keys.create`. */
  readonly id: string
  readonly tag: string
  /** Path after `/v1` with `:name` parameters. */
  readonly path: string
  readonly summary: string
  /** Answers 403 when this flag is off; 404 if the flag has that set. */
  readonly flag?: FlagName
  /** The last parameter takes the rest of the path, its slashes too. */
  readonly takes_rest?: true
  /** Texts of its path and body may hold NUL characters: the database never gets them. */
  readonly takes_nul?: true
  /** Statuses of refusals beside those that its scopes, parameters and body bring. */
  readonly refuses?: readonly (401 | 409 | 412 | 429)[]
  /** Its other forms, for clients that were written for other servers. */
  readonly compatibility?: Compatibility
  /** Loads what this operation alone needs; awaited before its transaction, in which nothing but the database is. */
  ready?(): Promise<void>
  readonly params?: P
  readonly query?: Q
  readonly reply: R
}

interface Compatibility {
  /** The path exists outside `/v1` too. */
  readonly at_root?: true
  /** Other paths at which clients look for it. */
  readonly also_at?: readonly string[]
  /** Other names that clients give fields of its body, each with the field that it means. */
  readonly spellings?: Readonly<Record<string, string>>
  /** A missing row is answered with `{"error": sentence}`, here alone. */
  readonly bare_404?: true
}

/** Open to everyone, without a key. */
interface OpenToAll {
  readonly scopes: null
  readonly role_needs?: undefined
  readonly across_workspaces?: undefined
}

interface Scoped {
  /** Any one of these suffices; none is needed where the list is empty. */
  readonly scopes: readonly string[]
  /** The one of them that a user's role must have, when another would admit users that a security setting excludes. */
  readonly role_needs?: string
  /** A user of several workspaces may ask it without naming one. */
  readonly across_workspaces?: true
}

/** Answers from a plain connection. */
interface Read {
  readonly method: 'GET'
  /** A list of what calls left, which is read a page at a time whether one is named or not. */
  readonly always_paged?: true
  /** Its reply is a file of this type, and not what `reply` says. */
  readonly file_type?: string
  readonly body?: undefined
  readonly described_body?: undefined
  readonly only_reads?: undefined
  readonly reaches_out?: undefined
  readonly audit?: undefined
  readonly prepare?: undefined
}

interface WithBody<B extends Shape> {
  readonly body?: B
  /** Its body for the OpenAPI document, where that says more than is read by; called after `ready`. */
  described_body?(): z.ZodType
  readonly always_paged?: undefined
  readonly file_type?: undefined
}

/**
 * Changes nothing of administration: it has no transaction of its own and no audit record. Its question may be too long
 * for a query.
 */
interface Question<B extends Shape> extends WithBody<B> {
  readonly method: 'POST' | 'PUT'
  readonly only_reads: true
  readonly reaches_out?: undefined
  readonly audit?: undefined
  readonly prepare?: undefined
}

/** Changes rows in one transaction, with its audit record. */
interface Write<B extends Shape> extends WithBody<B> {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  /** The audit log's name of it. */
  readonly audit: {readonly resource: string; readonly action: 'create' | 'update' | 'delete' | 'rotate' | 'manage'}
  readonly only_reads?: undefined
  /** Does what takes its time without the database, before the transaction: all other writes wait for that. */
  prepare?(body: Out<B>): Promise<unknown>
  readonly reaches_out?: undefined
}

/**
 * Waits for what is outside before it writes, and no transaction waits with it: it opens its own, each with an audit
 * record of the outcome (`auditOutcome`). Its `db` is a plain connection.
 */
interface Outreach<B extends Shape> extends WithBody<B> {
  readonly method: 'POST'
  readonly reaches_out: true
  readonly audit: Write<B>['audit']
  readonly only_reads?: undefined
  readonly prepare?: undefined
}

/**
 * One administrative operation: the single source of its route, its validation, its place in the OpenAPI document,
 * its audit record, its scope check and its CLI form. It reads, asks, writes, or reaches out.
 */
export type Operation<
  P extends Shape = Shape,
  Q extends Shape = Shape,
  B extends Shape = Shape,
  R extends z.ZodType = z.ZodType,
> = Described<P, Q, R> &
  (OpenToAll | Scoped) &
  (Read | Question<B> | Write<B> | Outreach<B>) & {handle(call: OperationCall<P, Q, B>): Promise<z.input<R>>}

declare const SCHEMAS: unique symbol

/**
 * An operation whose id and schemas the compiler knows; they are beside its members, so that it is any operation
 * without a look at them.
 */
export type TypedOperation<
  Id extends string,
  P extends Shape,
  Q extends Shape,
  B extends Shape,
  R extends z.ZodType,
> = AnyOperation & {
  readonly id: Id
  /** For the compiler alone: no operation has it. */
  readonly [SCHEMAS]?: {readonly params: P; readonly query: Q; readonly body: B; readonly reply: R}
}

/** The schemas of an operation, as types. */
export type SchemasOf<O> = O extends {readonly [SCHEMAS]?: infer Schemas} ? NonNullable<Schemas> : never

/** An operation: `handle` is checked by its schemas, and so are the callers of `Operations[Id]`. */
export function operation<
  const Id extends string,
  P extends Shape = undefined,
  Q extends Shape = undefined,
  B extends Shape = undefined,
  R extends z.ZodType = z.ZodType,
>(parts: Operation<P, Q, B, R> & {readonly id: Id}): TypedOperation<Id, P, Q, B, R> {
  return parts as unknown as TypedOperation<Id, P, Q, B, R>
}

/** Any operation, as the registry, the routes, the OpenAPI document and the CLI see it. */
export type AnyOperation = Described<Shape, Shape, z.ZodType> &
  (OpenToAll | Scoped) &
  (Read | Question<Shape> | Write<Shape> | Outreach<Shape>) & {
    handle(call: OperationCall<z.ZodType, z.ZodType, z.ZodType>): Promise<unknown>
  }
