import {Refusal} from '../../base/errors.ts'
import type {Seal} from '../../base/seal.ts'
import {attach} from '../../guardrails/attach.ts'
import type {Db} from '../../store/database.ts'
import {guardrailsOfServer} from '../../store/guardrail-servers.ts'
import {findDefaultGuardrails, findGuardrails} from '../../store/guardrails.ts'
import {type Remembered, RowCache} from '../../store/remembered.ts'
import type {ToolGuardPlace, ToolGuards} from '../call/tool-guards.ts'

/** The guardrails of servers, remembered until one of their rows changes. */
export interface ToolGuardLookup {
  find(server: ToolGuardPlace): ToolGuards | null | Promise<ToolGuards | null>
  readonly remembered: readonly Remembered[]
}

const KNOWN_SERVERS = 2_000

export function createToolGuardLookup({db, seal}: {readonly db: Db; readonly seal: Seal}): ToolGuardLookup {
  const known = new RowCache<{readonly guards: ToolGuards | null}>({max: KNOWN_SERVERS})
  const load = async (server: ToolGuardPlace) => {
    const born = known.generation
    const guards = await readToolGuards(db, seal, server)
    known.set(server.id, {guards}, {born, rows: []})
    return guards
  }
  return {
    find(server) {
      const found = known.get(server.id)
      return found ? found.guards : load(server)
    },
    remembered: [
      {
        // as a whole: a new guardrail may be of any server
        of: new Set([
          'guardrails',
          'guardrail_versions',
          'guardrail_mcp_servers',
          'organisations',
          'workspaces',
        ] as const),
        forget: () => known.forget(null),
      },
    ],
  }
}

/** Those that the organisation and the workspace have for all calls of tools, and those of the server. */
async function readToolGuards(db: Db, seal: Seal, server: ToolGuardPlace): Promise<ToolGuards | null> {
  const {organisation_id, workspace_id} = server
  const of_all = await findDefaultGuardrails(db, server, 'mcp_tools')
  const own = await guardrailsOfServer(db, server.id)
  const refs = [...of_all.input, ...of_all.output, ...own.input, ...own.output]
  if (refs.length === 0) return null
  const found = await findGuardrails(db, {organisation_id, workspace_id, refs, target: 'mcp_tools'}, seal)
  const by_ref = new Map(found.map(each => [each.ref, each]))
  const reachable = (list: readonly string[]) => list.filter(ref => by_ref.has(ref))
  const defaults = [of_all, own].map(({input, output}) => ({
    input_guardrails: reachable(input),
    output_guardrails: reachable(output),
  }))
  const {input, output, faults} = attach({}, {defaults, saved: ref => by_ref.get(ref)})
  if (faults.length > 0)
    throw new Refusal('config.invalid', {issues: faults.map(({path, message}) => `${path}: ${message}`).join('; ')})
  return input.length > 0 || output.length > 0
    ? {input, output, names: new Map(found.map(({slug, name}) => [slug, name]))}
    : null
}
