import type {FastifyInstance, FastifyRequest} from 'fastify'
import {mountAdmin} from '../admin/http.ts'
import {OPERATIONS, OPERATOR_OPERATIONS} from '../admin/registry.ts'
import type {Actor, AdminServices} from '../admin/services.ts'
import {Refusal} from '../base/errors.ts'
import type {Log} from '../base/log.ts'
import {version} from '../base/runtime.ts'
import {operatorOf} from '../identity/access.ts'
import type {Settings} from '../settings/index.ts'
import {DataDirFault} from '../store/data-dir.ts'
import type {Store} from '../store/database.ts'
import {findOrganisation, organisations} from '../store/organisations.ts'
import {createServer} from './server.ts'

export interface InjectedRequest {
  readonly method: string
  readonly url: string
  readonly body?: unknown
  /** Id or slug; the first organisation where none is named. */
  readonly organisation?: string | undefined
}

/**
 * A server that never listens: the operator's commands go through the same operations, with the operator's rights. A
 * gateway that serves hardly needs it, and it is made when it is requested.
 */
export function openOperatorServer(store: Store, services: AdminServices, settings: Settings, log: Log) {
  let opened: Promise<FastifyInstance> | undefined
  return {
    open: () => (opened ??= startOperatorServer(store, services, settings, log)),
    close: async () => (await opened)?.close(),
  }
}

async function startOperatorServer(
  store: Store,
  services: AdminServices,
  settings: Settings,
  log: Log,
): Promise<FastifyInstance> {
  const [first] = await organisations(store.db)
  if (!first) throw new DataDirFault('The database holds no organisation yet. Start gateway serve once.')
  const actorOf = async ({headers}: FastifyRequest): Promise<Actor> => {
    const named = headers[ORGANISATION_HEADER]
    const organisation = typeof named === 'string' ? await findOrganisation(store.db, named) : first
    if (!organisation) throw new Refusal('row.not_found', {object: 'organisation'})
    return operatorOf(organisation.id)
  }
  return createServer({
    settings,
    log,
    version,
    admin: instance => mountAdmin(instance, [...OPERATIONS, ...OPERATOR_OPERATIONS], services, {actorOf}),
    unready: () => null,
  })
}

/** Which organisation the operator means; heard by the server that never listens alone. */
const ORGANISATION_HEADER = 'x-gateway-operator-organisation'

/** The reply of an operation to a request that no socket brought. */
export async function injectInto(server: FastifyInstance, {method, url, body, organisation}: InjectedRequest) {
  const reply = await server.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(organisation !== undefined && {[ORGANISATION_HEADER]: organisation}),
      ...(body !== undefined && {'content-type': 'application/json'}),
    },
    ...(body !== undefined && {payload: JSON.stringify(body)}),
  })
  const is_json = String(reply.headers['content-type']).startsWith('application/json')
  return {
    status: reply.statusCode,
    body: reply.body === '' ? undefined : is_json ? (JSON.parse(reply.body) as unknown) : reply.body,
  }
}
