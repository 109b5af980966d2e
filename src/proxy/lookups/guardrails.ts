import {LRUCache} from 'lru-cache'
import type {Seal} from '../../base/seal.ts'
import {type CheckServices, type CheckWorldOptions, checkEnvironment} from '../../guardrails/check-services.ts'
import type {Db} from '../../store/database.ts'
import {findDefaultGuardrails, findGuardrails} from '../../store/guardrails.ts'
import type {GuardrailServices} from '../guardrail-services.ts'

interface GuardParts {
  readonly db: Db
  readonly seal: Seal
  /** The network access of all workspaces' checks. */
  readonly around: CheckWorldOptions
}

const MAX_WORLDS = 1000

/**
 * The services of guardrails from the store and the network. No row is remembered here: the rows that were found stay
 * with their plan.
 */
export function openGuards({db, seal, around}: GuardParts): GuardrailServices {
  const worlds = new LRUCache<string, CheckServices>({max: MAX_WORLDS})
  const beside = new Set<Promise<unknown>>()
  return {
    async find(place, handles) {
      const found = await findGuardrails(db, {...place, refs: [...handles], target: 'llm'}, seal)
      return new Map(found.map(each => [each.ref, each]))
    },
    async defaults(place) {
      const {input, output, unreadable_bodies = null} = await findDefaultGuardrails(db, place)
      const says_something = input.length > 0 || output.length > 0 || unreadable_bodies !== null
      return says_something ? [{input_guardrails: input, output_guardrails: output, unreadable_bodies}] : []
    },
    checkServices(workspace_id) {
      const known = worlds.get(workspace_id)
      if (known) return known
      const made = checkEnvironment(workspace_id, around)
      worlds.set(workspace_id, made)
      return made
    },
    beside(work) {
      const known = work
        .catch(() => undefined)
        .then(() => {
          beside.delete(known)
        })
      beside.add(known)
    },
    async settled() {
      while (beside.size > 0) await Promise.all(beside)
    },
  }
}
