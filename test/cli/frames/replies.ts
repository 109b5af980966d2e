import {z} from 'zod'
import type {Transport} from '../../../cli/transport.ts'
import type {AnyOperation} from '../../../src/admin/operation.ts'
import {OPERATIONS, OPERATOR_OPERATIONS} from '../../../src/admin/registry.ts'
import {RESEARCH} from '../support.ts'

export const UUID = '01a21414-b4c1-702b-9f0e-2b1f6a1c9d11'
export const TIME = '2026-03-04T05:06:07.000Z'
export const SENTENCE =
  'The rate limit of 10 requests per minute of the API key support-app is used up; it is free again in 12 s.'
export const SLUG = 'a-slug-of-thirty-two-characters1'
export const MODEL = 'a-vendor/a-model-large-2026-03-4'
export const EMAIL = 'a.rather.long.name@department.example.com'
/** Wide letters, an escape sequence, a turn of direction and a line end. */
const NAME = '名前 \u001b[2J\u202eof a thing\nthat is long'
const AMOUNT = 12_345.678901

interface Schema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly maximum?: number
}

/** Texts of fields whose names say more than their schemas, the first that fits. */
const TEXTS: readonly (readonly [name: RegExp, text: string])[] = [
  [/_at$|_time$|^timestamp$|^(last|first)_seen$/, TIME],
  [/^ai_provider_id$/, 'workers-ai'],
  [/(^|_)id$/, UUID],
  [/slug$/, SLUG],
  [/email$/, EMAIL],
  [/model/, MODEL],
  [/usd$/, String(AMOUNT)],
  [/digest/, '0123456789abcdef'.repeat(4)],
  [/error|reason|description|message|note|detail/, SENTENCE],
  [/url$|host|origin|issuer/, 'https://a-host-of-some-length.example.com/v1/path'],
  [/domain/, 'department.example.com'],
]

function textOf({format}: Schema, name: string): string {
  if (format === 'uuid') return UUID
  if (format === 'date-time') return TIME
  if (format === 'email') return EMAIL
  return TEXTS.find(([pattern]) => pattern.test(name))?.[1] ?? NAME
}

function numberOf({maximum = Number.MAX_SAFE_INTEGER}: Schema, name: string, type: string): number {
  if (/^total(_count)?$/.test(name)) return 2
  if (/status/.test(name)) return 429
  return Math.min(maximum, type === 'integer' ? 1_234_567 : AMOUNT)
}

/**
 * A value of the schema with everything in it, as long as its kind gets; `nth` counts the items of a list. Odd ones
 * have nothing where they may.
 */
function sampleOf(schema: Schema, name: string, nth: number): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) {
    const longest = schema.enum.toSorted((one, other) => String(other).length - String(one).length)
    return longest[nth % longest.length]
  }
  const forms = schema.anyOf ?? schema.oneOf
  if (forms) {
    const is_nullable = forms.some(({type}) => type === 'null')
    if (is_nullable && (nth % 2 === 1 || name === 'next')) return null
    return sampleOf(forms.find(({type}) => type !== 'null') ?? forms[0]!, name, nth)
  }
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(part => sampleOf(part, name, nth)))
  if (schema.prefixItems) return schema.prefixItems.map(item => sampleOf(item, name, nth))
  const [type, ...types] = [schema.type ?? []].flat().filter(each => each !== 'null')
  const is_nullable = Array.isArray(schema.type) && schema.type.includes('null')
  if (is_nullable && (nth % 2 === 1 || name === 'next')) return null
  switch (types.length ? undefined : type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, member]) => [key, sampleOf(member, key, nth)]),
      )
    case 'array':
      return schema.items ? [0, 1].map(index => sampleOf(schema.items!, name.replace(/s$/, ''), index)) : []
    case 'integer':
    case 'number':
      return numberOf(schema, name, type!)
    case 'boolean':
      return nth % 2 === 0
    case 'string':
      return textOf(schema, name)
    default:
      return schema.type === 'null' ? null : textOf(schema, name)
  }
}

const ROUTES = [...OPERATIONS, ...OPERATOR_OPERATIONS].map(operation => ({
  operation,
  pattern: new RegExp(`^/v1${operation.path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`),
}))

/** The operation of a request: of several that fit, the one whose path has the fewest parameters. */
function operationOf(method: string, path: string): AnyOperation {
  const fixed = ({path}: AnyOperation) => path.split('/').filter(part => !part.startsWith(':')).length
  const fit = ROUTES.filter(({operation, pattern}) => operation.method === method && pattern.test(path))
  const [found] = fit.map(({operation}) => operation).toSorted((one, other) => fixed(other) - fixed(one))
  if (!found) throw new Error(`${method} ${path} is no operation.`)
  return found
}

/** Replies that their schemas leave open, and members whose values are words of this gateway. */
const REPLIES: Readonly<Record<string, (reply: unknown) => unknown>> = {
  'workers.list': reply => {
    const {data} = reply as {data: object[]}
    return {object: 'list', data: data.map(row => ({...row, name: 'reconcile-the-counters'}))}
  },
}

/** Answers every operation by the schema of its reply; the workspace of all examples is the one that there is. */
export function hostileGateway(command: string): Transport {
  return {
    kind: 'here',
    async send({method, path}) {
      const operation = operationOf(method, path.split('?', 1)[0]!)
      if (operation.id === 'workspaces.list' && command !== 'workspaces list')
        return {status: 200, body: {object: 'list', total: 1, data: [{...RESEARCH, id: UUID}]}}
      const schema = z.toJSONSchema(operation.reply, {io: 'output', unrepresentable: 'any'}) as Schema
      const reply = sampleOf(schema, '', 0)
      return {status: 200, body: REPLIES[operation.id]?.(reply) ?? reply}
    },
    close: async () => undefined,
  }
}
