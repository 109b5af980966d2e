import {z} from 'zod'
import type {EndpointName} from '../schema/endpoints.ts'
import type {Side} from '../schema/guardrails.ts'
import {explain} from '../schema/validation-message.ts'
import type {Http, Memory} from './http.ts'
import {isObject, type JsonValue} from './json.ts'
import type {Restore} from './pii/restore.ts'
import type {View} from './view.ts'

/** A rewriting that a verdict asks for. It is carried out after the checks that ran beside it, on what they left. */
export interface Transform {
  /** Puts a whole new body in the old one's place. Such go first, so that no redaction is undone by one. */
  readonly is_whole?: true
  apply(view: View): View | Promise<View>
}

/**
 * The verdict of a check. `data` is JSON, and quotes nothing of the text but `textExcerpt`, which the engine takes
 * again after a redaction.
 */
export interface Verdict {
  readonly verdict: boolean
  readonly data: unknown
  readonly error: Error | null
  readonly transformed?: Transform
  /** Headers to send upstream besides, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>
  /** Puts back in the answer what `transformed` took out of the request. */
  readonly restore?: Restore
  readonly log?: unknown
}

/** A secret that is kept elsewhere, and fetched when it is needed. */
export interface SecretReference {
  readonly secret_reference_id: string
  /** Which of the secret's fields, where it has several. */
  readonly secret_key?: string | undefined
}

/** Facts of a call that a check may read, and its only access to the world outside. */
export interface CheckContext {
  readonly side: Side
  readonly endpoint: EndpointName
  /** The provider's kind. */
  readonly provider: string
  /** As requested, `@slug/` included; null where a request names none. */
  readonly model: string | null
  readonly metadata: Readonly<Record<string, string>>
  /** The client's, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly trace: {readonly trace_id: string; readonly span_id: string}
  readonly is_streaming: boolean
  /** The request as it is now; on the output side as it was sent. Null where it has no JSON. */
  readonly request: View | null
  readonly is_request_transformed: boolean
  /** The answer; null on the input side. */
  readonly response: View | null
  readonly response_status: number | null
  /**
   * State that checks keep, by their parameters, between two looks at an answer that comes in parts; absent when the
   * answer is looked at once.
   */
  readonly parts?: Map<object, unknown>
  now_ms(): number
  readonly http: Http
  /** A signal that fires after so many milliseconds. */
  after(ms: number): AbortSignal
  /** Addresses of a host that may be called; rejects for one that has none, or only private ones. */
  resolve(hostname: string): Promise<readonly string[]>
  readonly memory: Memory
  /** The value behind a secret reference; absent where none are kept. */
  secret?(reference: SecretReference): Promise<string>
}

export interface CheckOptions<Shape extends z.ZodRawShape> {
  /** `default.<name>`. */
  readonly id: string
  readonly title: string
  /** One sentence for the documentation: when it passes. */
  readonly about: string
  readonly sides: readonly Side[]
  readonly kind?: 'mutator'
  /** Runs on every route, not on those with a text alone. */
  readonly everywhere?: true
  /** It asks a service: of the partner's, or the user's. */
  readonly is_service?: true
  /** Other names: of the check, and of its parameters. Case never matters. */
  readonly aliases?: readonly string[]
  readonly parameter_aliases?: Readonly<Record<string, string>>
  readonly shape: Shape
  /**
   * True when what fails a part of an answer fails the whole of it too, so that a stream can be judged while it comes.
   * By default a check has to see the whole.
   */
  part?(parameters: Parameters<Shape>): boolean
  /**
   * True when it only says what may not be there, so that any string can be judged by it; by default it asks for more.
   */
  forbids?(parameters: Parameters<Shape>): boolean
  /** True when it takes out what it finds. */
  redacts?(parameters: Parameters<Shape>): boolean
  /** Why these parameters cannot be meant together, or undefined. */
  refuse?(parameters: Parameters<Shape>): string | undefined
  run(view: View, parameters: Parameters<Shape>, context: CheckContext): Verdict | Promise<Verdict>
}

type Parameters<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>

/** A check with its parameters read, ready to run on any number of calls. */
export interface Prepared {
  readonly check: Check
  readonly fail_on_error: boolean
  /** True when a part that fails makes the whole answer fail. */
  readonly judges_parts: boolean
  /** It only says what may not be there. */
  readonly forbids: boolean
  readonly redacts: boolean
  run(view: View, context: CheckContext): Verdict | Promise<Verdict>
}

export interface Check {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly sides: readonly Side[]
  readonly kind: 'guardrail' | 'mutator'
  readonly everywhere: boolean
  readonly is_service: boolean
  readonly aliases: readonly string[]
  /** Strict: an unknown key is refused. */
  readonly parameters: z.ZodType
  /**
   * True for a parameter, however it is spelt, or a member of one (`credentials.apiKey`), that is a secret: what is
   * marked `writeOnly`.
   */
  isSecret(parameter: string): boolean
  /** The same for one that is the address of a service: what is marked with the format `uri`. */
  isAddress(parameter: string): boolean
  /** Reads parameters; a string says in one line what is wrong with them. */
  ready(parameters: unknown): Prepared | string
}

const common = {
  failOnError: z.boolean().default(false).describe('An error of the check counts as a failure; else it passes.'),
}

/** A check as the engine and the documentation see it: its parameters read by its own schema, whatever their case. */
export function check<Shape extends z.ZodRawShape>(options: CheckOptions<Shape>): Check {
  const {
    id,
    title,
    about,
    sides,
    kind = 'guardrail',
    everywhere = false,
    is_service = false,
    aliases = [],
    shape,
    parameter_aliases = {},
  } = options
  const schema = z.strictObject({...shape, ...common})
  const names = new Map(Object.keys(schema.shape).map(name => [name.toLowerCase(), name]))
  for (const [alias, name] of Object.entries(parameter_aliases)) names.set(alias.toLowerCase(), name)
  const marked = (key: string, value: unknown) => (parameter: string) => {
    const [name, ...members] = parameter.split('.') as [string, ...string[]]
    const of = members.reduce(memberOf, shape[names.get(name.toLowerCase()) ?? name])
    return markOf(of, key) === value
  }
  const made: Check = {
    ...{id, title, about, sides, kind, everywhere, is_service, aliases},
    parameters: schema,
    isSecret: marked('writeOnly', true),
    isAddress: marked('format', 'uri'),
    ready(input) {
      if (isObject(input) && Object.hasOwn(input, '__proto__'))
        return 'parameters: the key __proto__ is not known here.'
      const request = renamed(input ?? {}, names)
      const read = schema.safeParse(request)
      if (!read.success) return explain(read.error, schema, request, {root: 'parameters'})
      const {failOnError, ...rest} = read.data as {failOnError: boolean}
      const parameters = rest as Parameters<Shape>
      const refusal = options.refuse?.(parameters)
      if (refusal) return refusal
      const judges_parts = options.part?.(parameters) ?? false
      const forbids = options.forbids?.(parameters) ?? false
      const redacts = options.redacts?.(parameters) ?? false
      return {
        check: made,
        fail_on_error: failOnError,
        judges_parts,
        forbids,
        redacts,
        run: (view, context) => options.run(view, parameters, context),
      }
    },
  }
  return made
}

/** The schema of an object's member. */
function memberOf(schema: z.core.SomeType | undefined, key: string): z.core.SomeType | undefined {
  if (schema === undefined) return undefined
  const {shape, innerType} = schema._zod.def as {shape?: Record<string, z.core.SomeType>; innerType?: z.core.SomeType}
  if (shape) return Object.hasOwn(shape, key) ? shape[key] : undefined
  return memberOf(innerType, key)
}

/** The mark of a parameter, or of the schema inside an optional one. */
function markOf(schema: z.core.SomeType | undefined, key: string): unknown {
  if (schema === undefined) return undefined
  const marks = z.globalRegistry.get(schema as z.ZodType) as Readonly<Record<string, unknown>> | undefined
  return marks?.[key] ?? markOf((schema as z.ZodOptional)._zod.def.innerType, key)
}

/**
 * Known names in their own spelling; when a body has two spellings of one name, the first stays as it is and so is
 * refused.
 */
function renamed(input: unknown, names: ReadonlyMap<string, string>): unknown {
  if (!isObject(input)) return input
  const taken = new Set<string>()
  return Object.fromEntries(
    Object.entries(input).map(([key, value]): [string, JsonValue] => {
      const name = Object.hasOwn(input, names.get(key.toLowerCase()) ?? key)
        ? key
        : (names.get(key.toLowerCase()) ?? key)
      if (taken.has(name)) return [key, value]
      taken.add(name)
      return [name, value]
    }),
  )
}

/** A verdict without an error. `not` turns it round. */
export function judged(
  holds: boolean,
  data: Readonly<Record<string, unknown>> & {readonly explanation: string},
  not = false,
): Verdict {
  return {verdict: holds !== not, data: {verdict: holds !== not, ...data}, error: null}
}

/** A check that could not judge. It passes, unless `failOnError`. */
export function failed(error: Error, data: Readonly<Record<string, unknown>> = {}): Verdict {
  return {verdict: false, data: {...data, explanation: error.message}, error}
}

const EXCERPT = 100

/** The first hundred characters. */
export function excerpt(text: string): string {
  return text.length > EXCERPT ? `${text.slice(0, EXCERPT)}...` : text
}

/** The parameter that inverts a verdict. */
export const not = z.boolean().default(false).describe('Inverts the verdict: what would pass fails.')
