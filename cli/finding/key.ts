import type {RowOf} from '../client.ts'
import type {Gateway} from '../connect.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'

export type ListedKey = RowOf<'api_keys.list'>

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const BEGINNING_OF_ID = /^[0-9a-f]{8}(-[0-9a-f-]{0,27})?$/i
const PAGE = 1000

/** The id of the key that `name` is the name or the id of, or how its id begins where no other does so. */
export async function keyId(gateway: Gateway, name: string): Promise<string> {
  if (UUID.test(name)) return name
  const all = await allKeys(gateway)
  const called = all.filter(row => row.name === name)
  const begun = BEGINNING_OF_ID.test(name) ? all.filter(({id}) => id.startsWith(name.toLowerCase())) : []
  const found = called.length ? called : begun
  if (found.length === 1) return found[0]!.id
  if (found.length > 1)
    throw usageFault(
      `${found.length} API keys have ${called.length ? 'the name' : 'an id that begins with'} ${name}: give an id.`,
      `They are: ${found.map(({id}) => id).join(', ')}.`,
    )
  throw new CommandFault(`No API key has the name or id ${name}.`, {
    exit: EXIT.not_found,
    code: 'key_not_found',
    next: `${gateway.typed('keys list')} shows them.`,
  })
}

/** True where a key has this name; false too for a caller who may not list keys. */
export async function isKeyName(gateway: Gateway, name: string): Promise<boolean> {
  try {
    return (await allKeys(gateway)).some(row => row.name === name)
  } catch (fault) {
    if (fault instanceof CommandFault) return false
    throw fault
  }
}

async function allKeys({call}: Gateway): Promise<readonly ListedKey[]> {
  const found: ListedKey[] = []
  for (let current_page = 0; ; current_page++) {
    const {data, total} = await call('api_keys.list', {query: {page_size: PAGE, current_page}})
    found.push(...data)
    if (!data.length || (current_page + 1) * PAGE >= total) return found
  }
}
