import type {Heard} from '../provider.ts'
import {
  bodyOf,
  type MemberNames,
  membersOf,
  nearest,
  type StoreTwin,
  startTwin,
  type TwinMetric,
  type TwinPoint,
  TwinPoints,
  type TwinReply,
} from './twin.ts'

const NAMES: MemberNames = {partition: 'p', ends_at_ms: 'e', sealed: 's'}
const NAMESPACE = 'gateway_semantic_cache'
const MAX_BODY_BYTES = 2 << 20

type Filter = Readonly<Record<string, {readonly $eq?: unknown; readonly $gt?: number; readonly $lte?: number}>>

export interface PineconeTwinOptions {
  readonly api_key?: string
  readonly dimension?: number
  readonly metric?: TwinMetric
  /** False: the index does not say its metric, as in the later versions of the interface. */
  readonly states_metric?: boolean
  /** The host that the API names for the index; it is its own by default. */
  readonly host?: string
  /** False: an index that deletes by id alone. */
  readonly deletes_by_filter?: boolean
}

/** An index called `semantic`, and the API that knows it by this name, on one port. */
export async function pineconeTwin(options: PineconeTwinOptions = {}): Promise<StoreTwin> {
  const {api_key = 'pc-key', dimension = 512, metric = 'cosine', states_metric = true} = options
  const {deletes_by_filter = true} = options
  const namespaces = new Map<string, TwinPoints>()
  let is_there = true
  let is_behind = false
  let change: ((score: number) => unknown) | null = null
  const twin = await startTwin(handle)

  const wrong = (status: number, code: number, message: string): TwinReply => ({
    status,
    body: {code, message, details: []},
  })

  function handle(request: Heard): TwinReply {
    if (request.headers['api-key'] !== api_key) return {status: 401, body: 'Unauthorized'}
    if (!/^\d{4}-\d\d$/.test(String(request.headers['x-pinecone-api-version'])))
      return wrong(400, 3, 'the version of the API is missing')
    const stated = {dimension, ...(states_metric && {metric})}
    if (request.method === 'GET') {
      if (!is_there || request.path !== '/indexes/semantic')
        return {status: 404, body: {error: {code: 'NOT_FOUND', message: 'Resource not found'}, status: 404}}
      const host = options.host ?? `127.0.0.1:${twin.port}`
      return {body: {name: 'semantic', ...stated, host, status: {ready: true, state: 'Ready'}}}
    }
    if (request.method !== 'POST' || !is_there) return {status: 404, body: ''}
    if (request.body.length > MAX_BODY_BYTES) return wrong(400, 11, 'message length too large')
    const body = bodyOf(request)
    if (request.path === '/describe_index_stats') {
      const counts = [...namespaces].map(([name, {all}]) => [name, {vectorCount: all.size}])
      return {body: {...stated, namespaces: Object.fromEntries(counts), indexFullness: 0, totalVectorCount: 0}}
    }
    return answer(request.path, String(body.namespace), body)
  }

  function answer(path: string, namespace: string, body: Readonly<Record<string, unknown>>): TwinReply {
    const points = namespaces.get(namespace)
    const filter = body.filter as Filter | undefined
    switch (path) {
      case '/query':
        return query(points, filter ?? {}, body)
      case '/vectors/fetch_by_metadata':
        return points ? listed(points, body) : wrong(404, 5, 'Namespace not found')
      case '/vectors/upsert':
        return upsert(namespace, body.vectors as {id: unknown; values: number[]; metadata: TwinPoint['members']}[])
      case '/vectors/delete': {
        if (!points) return wrong(404, 5, 'Namespace not found')
        const ids = body.ids as readonly unknown[] | undefined
        if (!ids && !deletes_by_filter)
          return wrong(400, 3, 'Serverless and Starter indexes do not support deleting with metadata filtering')
        for (const [key, point] of points.all)
          if (ids ? ids.includes(point.id) : isMatch(point, filter ?? {})) points.all.delete(key)
        if (points.all.size === 0 && !is_behind) namespaces.delete(namespace)
        return {body: {}}
      }
      default:
        return {status: 404, body: ''}
    }
  }

  function query(points: TwinPoints | undefined, filter: Filter, body: Readonly<Record<string, unknown>>): TwinReply {
    const vector = body.vector as number[]
    if (vector.length !== dimension)
      return wrong(400, 3, `Vector dimension ${vector.length} does not match the dimension of the index ${dimension}`)
    const matching = (points?.seen ?? []).filter(point => isMatch(point, filter))
    const matches = nearest(matching, vector, metric, Number(body.topK)).map(({point, score}) => ({
      ...{id: point.id, score: change ? change(score) : score},
      values: body.includeValues === true ? point.vector : [],
      ...(body.includeMetadata === true && {metadata: point.members}),
    }))
    return {body: {matches, namespace: body.namespace, usage: {readUnits: 1}}}
  }

  /** Its lists are pages in an order of its own, and have the vectors. */
  function listed({seen}: TwinPoints, body: Readonly<Record<string, unknown>>): TwinReply {
    const behind = String(body.paginationToken ?? '')
    const matching = seen
      .filter(point => isMatch(point, body.filter as Filter) && String(point.id) > behind)
      .toSorted((one, other) => (String(one.id) < String(other.id) ? -1 : 1))
    const page = matching.slice(0, Number(body.limit))
    const vectors = page.map(({id, vector, members}) => [id, {id, values: vector, metadata: members}] as const)
    const next = page.length < matching.length ? {pagination: {next: String(page.at(-1)?.id)}} : {}
    return {body: {vectors: Object.fromEntries(vectors), namespace: body.namespace, usage: {readUnits: 1}, ...next}}
  }

  function upsert(
    namespace: string,
    vectors: readonly {id: unknown; values: number[]; metadata: TwinPoint['members']}[],
  ): TwinReply {
    for (const {id, values, metadata} of vectors) {
      if (typeof id !== 'string') return wrong(400, 3, 'an id is a string')
      if (values.length !== dimension)
        return wrong(400, 3, `Vector dimension ${values.length} does not match the dimension of the index ${dimension}`)
      if (!Object.values(metadata).every(value => ['string', 'number', 'boolean'].includes(typeof value)))
        return wrong(400, 3, 'Metadata value must be a string, number, boolean or list of strings')
      if (JSON.stringify(metadata).length > 40_960) return wrong(400, 3, 'metadata size exceeds the limit')
    }
    const points = namespaces.get(namespace) ?? new TwinPoints()
    namespaces.set(namespace, points)
    for (const {id, values, metadata} of vectors) points.put({id: id as string, vector: values, members: metadata})
    return {body: {upsertedCount: vectors.length}}
  }

  const points = () => namespaces.get(NAMESPACE)
  return {
    ...twin,
    product: 'pinecone',
    settings: {VECTOR_STORE: 'pinecone', VECTOR_STORE_ADDRESS: twin.url, VECTOR_STORE_API_KEY: api_key},
    entries: () => points()?.entries(NAMES) ?? [],
    write: entry => points()?.put({id: entry.id, vector: entry.vector, members: membersOf(entry, NAMES)}),
    behind(is) {
      is_behind = is
      points()?.behind(is)
    },
    scores(next) {
      change = next
    },
    drop() {
      is_there = false
    },
  }
}

function isMatch({members}: TwinPoint, filter: Filter): boolean {
  return Object.entries(filter).every(([name, {$eq, $gt, $lte}]) => {
    const value = members[name]
    if ($eq !== undefined) return value === $eq
    if (typeof value !== 'number') return false
    return value > ($gt ?? Number.NEGATIVE_INFINITY) && value <= ($lte ?? Number.POSITIVE_INFINITY)
  })
}
