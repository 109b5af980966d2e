import {existsSync, readFileSync} from 'node:fs'
import {resolve} from 'node:path'

/** A field of a body or a query: where it stands, whether it must, and in which of several shapes. */
export interface AskedField {
  readonly name: string
  readonly is_required: boolean
  /** Counted from 1; null where there is one shape alone, or the field is in all. */
  readonly variants: readonly number[] | null
}

/**
 * A field of a reply: where it stands, what it may be (`string(uuid)`, `integer|null`), and its words where it is one
 * of some.
 */
export interface SaidField {
  readonly name: string
  readonly type: string
  readonly words: readonly string[] | null
}

/** What the reference says of an operation. */
export interface Fact {
  /** `GET /labels/{labelId}` */
  readonly operation: string
  readonly status: number
  readonly scopes: readonly string[]
  readonly query: readonly AskedField[]
  readonly body: readonly AskedField[]
  readonly reply: readonly SaidField[]
}

/** All that the reference says: its operations, and which others it names without a description. */
export interface Facts {
  readonly operations: readonly Fact[]
  /** `GET|POST /deployments` */
  readonly named: readonly string[]
}

interface Field {
  readonly n: string
  readonly req?: boolean | 'variant'
  readonly variant?: string
}
interface Reference {
  readonly operations: readonly {
    readonly method: string
    readonly path: string
    readonly query?: readonly Field[]
    readonly body?: {readonly fields: readonly Field[]}
    readonly success: readonly {readonly status: number; readonly body?: {readonly fields?: readonly string[]}}[]
    readonly scopes_any_of?: readonly string[]
  }[]
  readonly additional_operations: readonly {readonly method: string; readonly path: string}[]
}

const file =
  process.env.GATEWAY_REFERENCE ?? resolve(import.meta.dirname, '../../../../shared/reference/admin-api.json')

/** The facts of the reference itself, as `reference.txt` keeps them; undefined on a machine that has it not. */
export function factsOfReference(): string | undefined {
  if (!existsSync(file)) return undefined
  const {operations, additional_operations} = JSON.parse(readFileSync(file, 'utf8')) as Reference
  const named = additional_operations.map(({method, path}) => `${method} ${path}\n`)
  return [...operations.map(written), `${NAMED}\n${named.join('')}`].join('\n')
}

const NAMED = 'besides'

/** What such a text says. */
export function readFacts(text: string): Facts {
  const blocks = text.split('\n\n').map(block => block.trim().split('\n'))
  const named = blocks.find(([first]) => first === NAMED)?.slice(1) ?? []
  return {operations: blocks.filter(([first]) => first !== NAMED && first !== '').map(readFact), named}
}

function readFact([operation = '', ...lines]: readonly string[]): Fact {
  const at = (word: string) => (lines.find(line => line.startsWith(`${word} `)) ?? '').slice(word.length + 1)
  const each = <T>(word: string, read: (text: string) => T) => at(word).split('; ').filter(Boolean).map(read)
  return {
    operation,
    status: Number(at('status')),
    scopes: each('scopes', scope => scope),
    query: each('query', askedField),
    body: each('body', askedField),
    reply: each('reply', saidField),
  }
}

function written({method, path, query, body, success, scopes_any_of}: Reference['operations'][number]): string {
  const line = (word: string, parts: readonly string[]) => (parts.length ? `${word} ${parts.join('; ')}\n` : '')
  const asked = ({n, req, variant}: Field) => `${n}${req === true ? '!' : ''}${variant ? ` #${variant}` : ''}`
  const [{status, body: reply} = {status: 0, body: undefined}] = success
  return (
    `${method} ${path}\nstatus ${status}\n` +
    line('scopes', scopes_any_of ?? []) +
    line('query', query?.map(asked) ?? []) +
    line('body', body?.fields.map(asked) ?? []) +
    line('reply', reply?.fields ?? [])
  )
}

function askedField(text: string): AskedField {
  const [, name = '', required, variants] = /^(\S+?)(!?)(?: #([\d,]+))?$/.exec(text)!
  return {name, is_required: required === '!', variants: variants ? variants.split(',').map(Number) : null}
}

function saidField(text: string): SaidField {
  const [, name = '', type = '', words] = /^([^:]+?)!?:([^=]+)(?:=(.*))?$/s.exec(text)!
  return {name, type, words: words === undefined ? null : words.split('|')}
}
