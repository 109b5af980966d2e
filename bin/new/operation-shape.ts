import {PERFORMED_BY} from '../../cli/operations.ts'
import {type Draft, DraftFault} from './draft.ts'
import {camel, dashed, singular} from './names.ts'

const ID = /^[a-z][a-z0-9]*(_[a-z0-9]+)*\.[a-z][a-z0-9]*(_[a-z0-9]+)*$/
const METHODS: Readonly<Record<string, 'POST' | 'PUT' | 'DELETE'>> = {create: 'POST', update: 'PUT', delete: 'DELETE'}
const OF_ONE: ReadonlySet<string> = new Set(['get', 'update', 'delete'])
const WITH_BODY: ReadonlySet<string> = new Set(['create', 'update'])
/** An id that no row has. */
export const NONE = '00000000-0000-4000-8000-000000000000'

/** The values of an operation for the templates. */
export interface Shape {
  readonly id: string
  /** `widgets`, as the id says it. */
  readonly noun: string
  readonly verb: string
  /** The name of its files: the noun, or noun and verb when the noun has files already. */
  readonly stem: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** The path parameter of one row. */
  readonly param: string | undefined
  readonly has_body: boolean
  /** The words of its command. */
  readonly command: readonly [group: string, leaf: string]
}

export function shapeOf(id: string, draft: Draft): Shape {
  if (!ID.test(id))
    throw new DraftFault(`${JSON.stringify(id)} is not an operation id: use noun.verb, for example widgets.list.`)
  if (Object.hasOwn(PERFORMED_BY, id)) throw new DraftFault(`The operation ${id} exists already.`)
  const [noun, verb] = id.split('.') as [string, string]
  const isTaken = ['src/admin', 'src/schema'].some(folder => draft.has(`${folder}/${dashed(noun)}.ts`))
  const param = OF_ONE.has(verb) ? camel(`${singular(noun)}_id`) : undefined
  const plain = `/${dashed(noun)}`
  return {
    id,
    noun,
    verb,
    stem: isTaken ? dashed(`${noun}-${verb}`) : dashed(noun),
    method: METHODS[verb] ?? 'GET',
    path: param ? `${plain}/:${param}` : verb === 'list' || verb === 'create' ? plain : `${plain}/${dashed(verb)}`,
    param,
    has_body: WITH_BODY.has(verb),
    command: [groupOf(noun), verb === 'get' ? 'show' : dashed(verb)],
  }
}

/** The command group of a noun: `keys` for `api_keys`. */
function groupOf(noun: string): string {
  const known = Object.entries(PERFORMED_BY).find(([id]) => id.startsWith(`${noun}.`))?.[1]
  return known?.includes(' ') ? known.split(' ')[0]! : dashed(noun)
}
