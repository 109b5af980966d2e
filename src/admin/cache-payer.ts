import {newId, newSpanId} from '../base/ids.ts'
import {userOf} from '../identity/subject.ts'
import type {PrincipalKind} from '../schema/principal.ts'
import {findKey} from '../store/api-keys.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'
import type {OperationCall} from './operation.ts'
import type {EvaluationPayer} from './services.ts'

type Heard = Pick<EvaluationPayer, 'onCost' | 'onRefused'>

/** The caller of an operation, as it pays for what is evaluated: with the limits of its key and its workspace. */
export async function evaluationPayer(
  {actor, db}: Pick<OperationCall, 'actor' | 'db'>,
  workspace: WorkspacesTable,
  heard: Heard,
): Promise<EvaluationPayer> {
  const {subject} = actor
  return {
    organisation_id: workspace.organisation_id,
    workspace_id: workspace.id,
    principal: {kind: PRINCIPALS[subject.kind] ?? 'api_key', id: subject.id ?? 'operator'},
    user_id: userOf(subject),
    trace: {trace_id: newId(), span_id: newSpanId()},
    counter_keys: [],
    limits: await limitsOf({actor, db}, workspace),
    ...heard,
  }
}

const PRINCIPALS: Readonly<Partial<Record<string, PrincipalKind>>> = {token: 'token', user: 'session'}

/** Those of a key of the workspace, and the workspace's. A key of the organisation has none: it calls no models. */
async function limitsOf(
  {actor, db}: Pick<OperationCall, 'actor' | 'db'>,
  workspace: WorkspacesTable,
): Promise<EvaluationPayer['limits']> {
  const {subject} = actor
  const of = {organisation_id: workspace.organisation_id, workspace_id: workspace.id}
  const key = subject.kind === 'api_key' ? await findKey(db, {...of, kinds: KINDS}, subject.id) : undefined
  const entities = [
    ...(key ? [{entity: 'key' as const, row: key, last_reset_at: key.last_reset_at}] : []),
    {entity: 'workspace' as const, row: workspace, last_reset_at: null},
  ]
  return entities
    .map(({entity, row, last_reset_at}) => {
      const {id, name, usage_limits: usage, rate_limits: rates} = row
      return {...of, entity, id, name, usage, rates, last_reset_at}
    })
    .filter(({usage, rates}) => usage !== null || rates !== null)
}

const KINDS = ['workspace-service', 'workspace-user'] as const
