import type {EndpointName} from '../../schema/endpoints.ts'

/**
 * One operation of a vendor's own API, reached by its own path: below `/v1/proxy/`, or as any path without a unified
 * route. What a call by such a path means for lists of models, limits, usage and the log is said here once
 * (docs/doors.md is printed from it).
 */
export interface VendorOperation {
  /** Vendor and operation, as its reference names them: `google.generateContent`. */
  readonly name: string
  /** Kinds of providers that have it; `all` for OpenAI's and Anthropic's words, which many speak below some path. */
  readonly kinds: readonly string[] | 'all'
  readonly method: VendorMethod
  /**
   * Below the version: `{model}` is a segment that names a model, `{model+}` one or more, `{@model+}` the same from an
   * at sign on, `{id}` any segment, `*` the rest. Prefixes that
   * are a version or repeat the base's own (`/v1beta`, `/openai/v1`) are taken off before it is compared.
   */
  readonly path: string
  /** True for a path that is known by its end, whatever comes before it (`…/endpoints/openapi/chat/completions`). */
  readonly anywhere: boolean
  /** The unified route whose format its requests and replies have; null for a format of its own. */
  readonly endpoint: EndpointName | null
  /** The places in its request that name models: all of them must be allowed. Empty: it executes none. */
  readonly models: readonly NamedPlace[]
  /** True where its reply holds text that a model wrote. */
  readonly generates: boolean
  readonly money: Money
  readonly body: 'json' | 'form' | 'bytes' | 'none'
  /** The request names an object by id, and the object names the model. */
  readonly is_indirect: boolean
  /**
   * It hands a credential or an address of the provider to the client, which then goes past every limit, list and log.
   */
  readonly delegates: boolean
  /** An address in its reply that the vendor's own client calls next: one of ours takes its place (`links.ts`). */
  readonly links: ReplyLink | null
  /** How its stream is cut into events, where its content type alone does not tell. */
  readonly framing: VendorFraming | null
  /** The part of its reply that describes batches; null for all other operations. */
  readonly batches: BatchRole | null
}

/**
 * `upload`: a header with the address that the bytes of a file go to. `results_url`: a member that the client fetches
 * with its key.
 */
export type ReplyLink = 'upload' | 'results_url'

/**
 * The vendor whose format describes batches, and the operation's part: it begins one, shows some, returns the results
 * of one, or removes one.
 */
export interface BatchRole {
  readonly words: BatchWords
  readonly role: 'begins' | 'shows' | 'results' | 'removes'
}

/** `unified`: OpenAI's, which are those of the unified routes. */
export type BatchWords = 'unified' | 'anthropic' | 'gemini' | 'mistral' | 'vertex' | 'bedrock'

export type VendorMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/** `path`: the `{model}` of the pattern; others are members of the body. `any`: members of these names at any depth. */
export type NamedPlace = 'path' | 'model' | 'any'
/**
 * `costed`: its usage is read and priced. `free`: it shows, changes or ends what is there. `flagged`: it costs, and no
 * rate for it is known: its row says `unmetered` unless the reply tells a usage that has one. `deferred`: it begins
 * work that is charged once, from its results, when they are there.
 */
export type Money = 'costed' | 'free' | 'flagged' | 'deferred'
export type VendorFraming = 'sse' | 'json_array' | 'lines' | 'aws_event_stream'

/** An operation of the table with what the path says. */
export interface CalledOperation {
  readonly operation: VendorOperation
  /** Percent-decoded, without a provider's slug; null where the path names none. */
  readonly path_model: string | null
}

/** Members of a row that may differ from its kind of row. */
export type OperationFields = Partial<Omit<VendorOperation, 'name' | 'method' | 'path'>>

const PLAIN: Omit<VendorOperation, 'name' | 'method' | 'path'> = {
  kinds: 'all',
  anywhere: false,
  endpoint: null,
  models: [],
  generates: false,
  money: 'free',
  body: 'none',
  is_indirect: false,
  delegates: false,
  links: null,
  framing: null,
  batches: null,
}

/** A POST that a model executes: costed, its model in the body unless the path names it. */
export function executes(name: string, path: string, more: OperationFields = {}): VendorOperation {
  const models: readonly NamedPlace[] = /\{@?model\+?\}/.test(path) ? ['path', 'model'] : ['model']
  return {...PLAIN, name, method: 'POST', path, money: 'costed', body: 'json', models, ...more}
}

/** The same, with a reply that holds text. */
export function generates(name: string, path: string, more: OperationFields = {}): VendorOperation {
  return executes(name, path, {generates: true, ...more})
}

/** It costs by something that no price list has a rate for. */
export function flagged(name: string, path: string, more: OperationFields = {}): VendorOperation {
  return executes(name, path, {money: 'flagged', models: [], ...more})
}

/** It begins a batch, which is charged from its results. */
export function beginsBatch(
  name: string,
  path: string,
  words: BatchWords,
  more: OperationFields = {},
): VendorOperation {
  return executes(name, path, {money: 'deferred', models: [], batches: {words, role: 'begins'}, ...more})
}

/** It shows, changes or ends what is there. A space parts methods: `GET DELETE`. */
export function free(
  name: string,
  methods: string,
  path: string,
  more: OperationFields = {},
): readonly VendorOperation[] {
  return methods.split(' ').map(method => ({
    ...PLAIN,
    name: methods.includes(' ') ? `${name}.${method.toLowerCase()}` : name,
    method: method as VendorMethod,
    path,
    body: method === 'GET' || method === 'DELETE' ? ('none' as const) : ('json' as const),
    ...more,
  }))
}

/** It hands a credential out. */
export function delegates(name: string, path: string, more: OperationFields = {}): VendorOperation {
  return flagged(name, path, {delegates: true, models: ['any'], ...more})
}
