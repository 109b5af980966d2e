import type {Gateway} from '../connect.ts'
import {CommandFault} from '../fault.ts'

/** Lists whose rows have an id, and a slug that commands take. */
type SlugList = 'workspaces.list' | 'integrations.list'

/** Slugs by id, for tables whose rows hold ids alone. A caller who may not list them reads the ids. */
export async function slugsOf({perform}: Gateway, operation: SlugList): Promise<ReadonlyMap<string, string>> {
  try {
    const reply = await perform(operation, {query: {page_size: 1000}})
    const {data} = reply as {data: readonly {readonly id: string; readonly slug: string}[]}
    return new Map(data.map(({id, slug}) => [id, slug]))
  } catch (fault) {
    if (fault instanceof CommandFault) return new Map()
    throw fault
  }
}
