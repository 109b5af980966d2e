import type {Gateway} from '../connect.ts'
import {CommandFault, usageFault} from '../fault.ts'

interface Named {
  readonly slug: string
  readonly name: string
}

const PAGE = 1000
/** How ids, and the slugs that the gateway makes of names, begin: the gateway itself knows whether there is one. */
const SLUG = /^(?:p[cg]-|[0-9a-f]{8}-[0-9a-f]{4}-)/

/**
 * The slug of the config or guardrail that `named` is the slug or the name of. A word that is neither stays as it is,
 * so that the gateway refuses it; so does every word of a caller who may not list them.
 */
export async function slugByName(
  gateway: Gateway,
  operation: 'configs.list' | 'guardrails.list',
  named: string,
  workspace_id?: string,
): Promise<string> {
  if (SLUG.test(named)) return named
  const all = await allOf(gateway, operation, workspace_id)
  if (all.some(({slug}) => slug === named)) return named
  const [found, ...others] = all.filter(({name}) => name === named).map(({slug}) => slug)
  if (others.length) {
    const many = operation.slice(0, operation.indexOf('.'))
    throw usageFault(
      `${others.length + 1} ${many} have the name ${named}: give a slug.`,
      `They are: ${[found, ...others].join(', ')}.`,
    )
  }
  return found ?? named
}

async function allOf({perform}: Gateway, operation: string, workspace_id?: string): Promise<readonly Named[]> {
  const found: Named[] = []
  try {
    for (let current_page = 0; ; current_page++) {
      const reply = await perform(operation, {query: {page_size: PAGE, current_page, workspace_id}})
      const {data, total} = reply as {data: readonly Named[]; total: number}
      found.push(...data)
      if (!data.length || (current_page + 1) * PAGE >= total) return found
    }
  } catch (fault) {
    if (fault instanceof CommandFault) return []
    throw fault
  }
}
