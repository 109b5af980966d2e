import type {Heard} from '../provider.ts'
import {
  bodyOf,
  type MemberNames,
  membersOf,
  nearest,
  type StoreTwin,
  startTwin,
  type TwinPoint,
  TwinPoints,
  type TwinReply,
} from './twin.ts'

const NAMES: MemberNames = {partition: 'p', ends_at_ms: 'e', sealed: 's'}

interface Condition {
  readonly key?: string
  readonly match?: {readonly value: unknown}
  readonly range?: {readonly gt?: number; readonly lte?: number}
  readonly has_id?: readonly (string | number)[]
}

interface QdrantCollection {
  readonly size: number
  readonly distance: string
  readonly indexes: Map<string, string>
  readonly points: TwinPoints
}

export interface QdrantTwinOptions {
  readonly api_key?: string
  /** A collection that is there already. */
  readonly collection?: {readonly size: number; readonly distance?: string}
}

const COLLECTION = 'gateway_semantic_cache'

export async function qdrantTwin({api_key, collection}: QdrantTwinOptions = {}): Promise<StoreTwin> {
  const collections = new Map<string, QdrantCollection>()
  let change: ((score: number) => unknown) | null = null
  const make = (name: string, {size, distance = 'Cosine'}: {size: number; distance?: string}) =>
    collections.set(name, {size, distance, indexes: new Map(), points: new TwinPoints()})
  if (collection) make(COLLECTION, collection)
  const twin = await startTwin(handle)
  const points = () => collections.get(COLLECTION)?.points

  const ok = (result: unknown): TwinReply => ({body: {result, status: 'ok', time: 0.001}})
  const wrong = (status: number, error: string): TwinReply => ({status, body: {status: {error}, time: 0}})

  function handle(request: Heard): TwinReply {
    if (api_key !== undefined && request.headers['api-key'] !== api_key)
      return {status: 401, body: 'Must provide an API key or an Authorization bearer token'}
    const {pathname} = new URL(request.path, twin.url)
    const [, name = '', rest = ''] = /^\/collections\/([\w-]+)(\/.*)?$/.exec(pathname) ?? []
    if (!name) return {status: 404, body: ''}
    const route = `${request.method} ${rest}`
    const found = collections.get(name)
    const body = bodyOf(request)
    if (route === 'PUT ') {
      if (found) return wrong(409, `Wrong input: Collection \`${name}\` already exists!`)
      make(name, body.vectors as {size: number; distance: string})
      return ok(true)
    }
    if (!found) return wrong(404, `Not found: Collection \`${name}\` doesn't exist!`)
    return answer(route, found, body)
  }

  function answer(route: string, found: QdrantCollection, body: Readonly<Record<string, unknown>>): TwinReply {
    const must = (body.filter as {must?: Condition[]} | undefined)?.must ?? []
    const unindexed = must.find(({key}) => key !== undefined && !found.indexes.has(key))
    if (unindexed) return wrong(400, `Bad request: Index required but not found for "${unindexed.key}"`)
    switch (route) {
      case 'GET ': {
        const schema = [...found.indexes].map(([name, data_type]) => [name, {data_type, points: 0}])
        const config = {params: {vectors: {size: found.size, distance: found.distance}}}
        return ok({status: 'green', config, payload_schema: Object.fromEntries(schema)})
      }
      case 'PUT /index':
        found.indexes.set(String(body.field_name), String(body.field_schema))
        return ok({operation_id: 1, status: 'completed'})
      case 'PUT /points':
        return put(found, body.points as {id: unknown; vector: number[]; payload: TwinPoint['members']}[])
      case 'POST /points/query':
        return search(found, body, must)
      case 'POST /points/scroll': {
        const [from, limit] = [Number(body.offset ?? 0), Number(body.limit)]
        const matching = found.points.seen
          .filter(point => isMatch(point, must) && Number(point.id) >= from)
          .toSorted((one, other) => Number(one.id) - Number(other.id))
        const points = matching
          .slice(0, limit)
          .map(({id, members}) => ({id, ...(body.with_payload === true && {payload: members})}))
        return ok({points, next_page_offset: matching[limit]?.id ?? null})
      }
      case 'POST /points/delete': {
        const ids = body.points as readonly unknown[] | undefined
        for (const [key, point] of found.points.all)
          if (ids ? ids.includes(point.id) : isMatch(point, must)) found.points.all.delete(key)
        return ok({operation_id: 2, status: 'completed'})
      }
      default:
        return {status: 404, body: ''}
    }
  }

  function put(found: QdrantCollection, points: readonly {id: unknown; vector: number[]; payload: object}[]) {
    for (const {id, vector} of points) {
      if (!isId(id)) return wrong(400, `Format error in JSON body: value ${String(id)} is not a valid point ID`)
      if (vector.length !== found.size)
        return wrong(400, `Wrong input: Vector dimension error: expected dim: ${found.size}, got ${vector.length}`)
    }
    for (const {id, vector, payload} of points)
      found.points.put({id: id as number, vector, members: payload as TwinPoint['members']})
    return ok({operation_id: 3, status: 'completed'})
  }

  function search(found: QdrantCollection, body: Readonly<Record<string, unknown>>, must: readonly Condition[]) {
    const vector = body.query as number[]
    if (vector.length !== found.size)
      return wrong(400, `Wrong input: Vector dimension error: expected dim: ${found.size}, got ${vector.length}`)
    const matching = found.points.seen.filter(point => isMatch(point, must))
    const metric = found.distance === 'Euclid' ? 'euclidean' : 'cosine'
    const hits = nearest(matching, vector, metric, Number(body.limit)).map(({point, score}) => ({
      ...{id: point.id, version: 1, score: change ? change(score) : score},
      ...(body.with_payload === true && {payload: point.members}),
      ...(body.with_vector === true && {vector: point.vector}),
    }))
    return ok({points: hits})
  }

  return {
    ...twin,
    product: 'qdrant',
    settings: {
      VECTOR_STORE: 'qdrant',
      VECTOR_STORE_ADDRESS: twin.url,
      ...(api_key !== undefined && {VECTOR_STORE_API_KEY: api_key}),
    },
    entries: () => points()?.entries(NAMES) ?? [],
    write: entry => points()?.put({id: Number(entry.id), vector: entry.vector, members: membersOf(entry, NAMES)}),
    behind: is_behind => points()?.behind(is_behind),
    scores(next) {
      change = next
    },
    drop: () => collections.clear(),
  }
}

const isId = (id: unknown) =>
  (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) ||
  (typeof id === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id))

function isMatch({id, members}: TwinPoint, must: readonly Condition[]): boolean {
  return must.every(({key, match, range, has_id}) => {
    if (has_id) return has_id.includes(id)
    const value = members[key ?? '']
    if (match) return value === match.value
    if (typeof value !== 'number') return false
    return value > (range?.gt ?? Number.NEGATIVE_INFINITY) && value <= (range?.lte ?? Number.POSITIVE_INFINITY)
  })
}
