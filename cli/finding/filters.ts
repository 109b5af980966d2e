import type {Command} from 'commander'
import {nearest} from '../../src/base/nearest.ts'
import type {OperationId} from '../client.ts'
import type {Gateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {fieldsOf} from '../fields.ts'
import {readPairs} from '../option-parsers.ts'
import {keyId} from './key.ts'

export interface FilterOption {
  readonly filter?: readonly string[]
}

/** Titles of columns by which a list is narrowed, each with the field of the operation. */
type Titles = ReadonlyMap<string, string>

const KEYS = 'api_key_ids'

export const CALL_FILTERS: Titles = new Map([
  ['model', 'ai_model'],
  ['status', 'status_code'],
  ['key', KEYS],
  ['provider', 'virtual_keys'],
  ['config', 'configs'],
  ['trace', 'trace_id'],
  ['span', 'span_id'],
])

export const AUDIT_FILTERS: Titles = new Map([
  ['who', 'user_type'],
  ['id', 'user_id'],
  ['action', 'action'],
  ['what', 'resource_type'],
  ['address', 'client_ip'],
])

/** Fields that have options of their own. */
const OWN_OPTIONS =
  /^(?:page_size|current_page|time_of_generation_m..|(?:start|end)_time|workspace_(?:id|slug)|organisation_id|columns)$/

export function withFilter(command: Command, titles: Titles, example: string): Command {
  return command.option(
    '--filter <name=value...>',
    `by ${[...titles.keys()].join(', ')}, or a parameter of the operation; for example ${example}`,
  )
}

/** The part of the query of `operation` that the words of `--filter` say; keys are named by their names too. */
export async function filtersOf(
  gateway: Gateway,
  operation: OperationId,
  titles: Titles,
  {filter = []}: FilterOption,
): Promise<Readonly<Record<string, string>>> {
  const query = gateway.operations.find(({id}) => id === operation)
  const fields = query ? fieldsOf(query).flatMap(({place, name}) => (place === 'query' ? [name] : [])) : []
  const pairs = Object.entries(readPairs(filter, '--filter')).map(async ([name, value]) => {
    const field = titles.get(name.toLowerCase()) ?? name
    if (!fields.includes(field)) throw unknownFilter(name, titles, fields)
    return [field, field === KEYS ? await keyIds(gateway, value) : value] as const
  })
  return Object.fromEntries(await Promise.all(pairs))
}

async function keyIds(gateway: Gateway, names: string): Promise<string> {
  const ids: string[] = []
  for (const name of names.split(',')) ids.push(await keyId(gateway, name))
  return ids.join(',')
}

function unknownFilter(name: string, titles: Titles, fields: readonly string[]) {
  const known = [...new Set([...titles.keys(), ...fields.filter(each => !OWN_OPTIONS.test(each))])]
  const near = nearest(name, known)
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  return usageFault(`--filter ${name.slice(0, 80)} is not known.${hint}`, `Known are: ${known.join(', ')}.`)
}
