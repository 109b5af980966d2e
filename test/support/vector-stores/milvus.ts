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

const NAMES: MemberNames = {partition: 'workspace_id', ends_at_ms: 'expires_at', sealed: 'entry'}
const COLLECTION = 'gateway_semantic_cache'

/** A field as `collections/describe` shows it. */
export interface MilvusField {
  readonly name: string
  readonly type: string
  readonly primaryKey?: boolean
  readonly autoId?: boolean
  readonly params?: readonly {readonly key: string; readonly value: string}[]
}

export interface MilvusCollection {
  readonly fields: readonly MilvusField[]
  readonly dynamic: boolean
  /** Undefined: the description does not say it. */
  readonly metric?: string | undefined
}

interface OpenedCollection extends MilvusCollection {
  is_loaded: boolean
  readonly points: TwinPoints
}

/** The chart that services of this kind give: a collection of their own form, made before. */
export const CHART = (dimensions: number): MilvusCollection => ({
  fields: [
    {name: 'id', type: 'VarChar', primaryKey: true, params: [{key: 'max_length', value: '128'}]},
    {name: 'vector', type: 'FloatVector', params: [{key: 'dim', value: String(dimensions)}]},
    {name: 'workspace_id', type: 'VarChar', params: [{key: 'max_length', value: '128'}]},
  ],
  dynamic: true,
  metric: 'COSINE',
})

/** The newer one: everything in a field of JSON, ids that are numbers, another name for the vector. */
export const NEWER_CHART = (dimensions: number): MilvusCollection => ({
  fields: [
    {name: 'id', type: 'Int64', primaryKey: true},
    {name: 'values', type: 'FloatVector', params: [{key: 'dim', value: String(dimensions)}]},
    {name: 'metadata', type: 'JSON'},
  ],
  dynamic: false,
  metric: 'COSINE',
})

export interface MilvusTwinOptions {
  readonly token?: string
  readonly collection?: MilvusCollection
  /** The code of success: 200 in the first versions. */
  readonly done?: 0 | 200
}

export async function milvusTwin({token, collection, done = 0}: MilvusTwinOptions = {}): Promise<StoreTwin> {
  let found: OpenedCollection | null = collection ? opened(collection) : null
  let change: ((score: number) => unknown) | null = null
  const twin = await startTwin(handle)

  const ok = (data: unknown = {}): TwinReply => ({body: {code: done, data}})
  /** Errors have status 200. */
  const wrong = (code: number, message: string): TwinReply => ({body: {code, message}})

  function handle(request: Heard): TwinReply {
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
      return {status: 401, body: {code: 1800, message: 'user hasn’t authenticated'}}
    const [, route] = /^\/v2\/vectordb\/(\w+\/\w+)$/.exec(request.path) ?? []
    if (route === undefined || request.method !== 'POST') return {status: 404, body: '404 page not found'}
    const body = bodyOf(request)
    if (body.collectionName !== COLLECTION) return wrong(100, 'collection not found')
    if (route === 'collections/has') return ok({has: found !== null})
    if (route === 'collections/create') {
      // making one that is there does nothing
      found ??= opened(created(body as unknown as NewCollection))
      return ok()
    }
    if (!found) return wrong(100, `can't find collection[database=default][collection=${COLLECTION}]`)
    return answer(route, found, body)
  }

  function answer(route: string, of: OpenedCollection, body: Readonly<Record<string, unknown>>): TwinReply {
    if (route === 'collections/load') of.is_loaded = true
    else if (route === 'collections/describe') return ok(described(of))
    else if (route === 'entities/upsert') return upsert(of, body.data as Readonly<Record<string, unknown>>[])
    else {
      const isMatch = filterOf(String(body.filter))
      if (!isMatch) return wrong(1100, 'failed to create query plan: cannot parse expression')
      if (route === 'entities/delete') {
        for (const [key, point] of of.points.all) if (isMatch(point)) of.points.all.delete(key)
      } else if (!of.is_loaded) return wrong(101, 'collection not loaded')
      else if (route === 'entities/query') return query(of, body, isMatch)
      else if (route === 'entities/search') return search(of, body, isMatch)
      else return {status: 404, body: '404 page not found'}
    }
    return ok()
  }

  function upsert(of: OpenedCollection, rows: readonly Readonly<Record<string, unknown>>[]): TwinReply {
    const vector_field = of.fields.find(({type}) => type === 'FloatVector')!.name
    const ids = rows.map(({id}) => String(id))
    if (new Set(ids).size < ids.length) return wrong(1100, 'duplicate primary keys are not allowed in the same batch')
    for (const row of rows) {
      const {[vector_field]: vector, ...rest} = row
      if (!Array.isArray(vector) || vector.length !== dimensionsOf(of))
        return wrong(1804, 'fail to deal the insert data: the dimension does not match')
      const unknown = Object.keys(rest).find(name => !of.fields.some(field => field.name === name))
      if (unknown !== undefined && !of.dynamic) return wrong(1804, `has pass more fields: ${unknown}`)
      const is_number = typeof row.id === 'number'
      if (is_number !== (of.fields.find(({name}) => name === 'id')?.type === 'Int64'))
        return wrong(1804, 'the primary key has another type')
      const long = of.fields.find(
        ({name, params}) => String(rest[name] ?? '').length > Number(params?.find(p => p.key === 'max_length')?.value),
      )
      if (long) return wrong(1100, `length of varchar field ${long.name} exceeds max length`)
    }
    for (const {[vector_field]: vector, id, metadata, ...rest} of rows)
      of.points.put({id: id as string, vector: vector as number[], members: (metadata ?? rest) as TwinPoint['members']})
    return ok({upsertCount: rows.length, upsertIds: ids})
  }

  /** Rows come in the order of their primary key. */
  function query(
    of: OpenedCollection,
    body: Readonly<Record<string, unknown>>,
    isMatch: (point: TwinPoint) => boolean,
  ): TwinReply {
    const outputs = body.outputFields as string[]
    const rows = of.points.seen.filter(isMatch).toSorted((one, other) => (isBefore(one.id, other.id) ? -1 : 1))
    return ok(
      rows.slice(0, Number(body.limit)).map(({id, members}) => ({
        id,
        ...Object.fromEntries(outputs.filter(name => name in members).map(name => [name, members[name]])),
        ...(outputs.includes('metadata') && {metadata: JSON.stringify(members)}),
      })),
    )
  }

  function search(
    of: OpenedCollection,
    body: Readonly<Record<string, unknown>>,
    isMatch: (point: TwinPoint) => boolean,
  ): TwinReply {
    const [vector] = body.data as [number[]]
    const outputs = body.outputFields as string[]
    if (!of.fields.some(({name}) => name === body.annsField)) return wrong(1100, 'the field is not there')
    if (vector.length !== dimensionsOf(of)) return wrong(1801, `dimension: ${dimensionsOf(of)}, but length is another`)
    const metric = of.metric === 'L2' ? 'euclidean' : 'cosine'
    const hits = nearest(of.points.seen.filter(isMatch), vector, metric, Number(body.limit))
    return ok(
      hits.map(({point, score}) => ({
        ...{id: point.id, distance: change ? change(score) : score},
        ...(outputs.includes('entry') && {entry: point.members.entry}),
        // a field of JSON comes as text
        ...(outputs.includes('metadata') && {metadata: JSON.stringify(point.members)}),
        ...(outputs.includes(String(body.annsField)) && {[String(body.annsField)]: point.vector}),
      })),
    )
  }

  return {
    ...twin,
    product: 'milvus',
    settings: {
      VECTOR_STORE: 'milvus',
      VECTOR_STORE_ADDRESS: twin.url,
      ...(token !== undefined && {VECTOR_STORE_API_KEY: token}),
    },
    entries: () => found?.points.entries(NAMES) ?? [],
    write: entry => found?.points.put({id: entry.id, vector: entry.vector, members: membersOf(entry, NAMES)}),
    behind: is_behind => found?.points.behind(is_behind),
    scores(next) {
      change = next
    },
    drop() {
      found = null
    },
  }
}

const opened = (collection: MilvusCollection): OpenedCollection => ({
  ...collection,
  is_loaded: false,
  points: new TwinPoints(),
})

interface NewCollection {
  readonly schema: {
    readonly fields: readonly {
      readonly fieldName: string
      readonly dataType: string
      readonly isPrimary?: boolean
      readonly elementTypeParams?: Readonly<Record<string, string>>
    }[]
  }
  readonly indexParams: readonly {readonly metricType: string}[]
}

function created({schema, indexParams}: NewCollection): MilvusCollection {
  const fields = schema.fields.map(({fieldName, dataType, isPrimary = false, elementTypeParams = {}}) => ({
    ...{name: fieldName, type: dataType, primaryKey: isPrimary, autoId: false},
    params: Object.entries(elementTypeParams).map(([key, value]) => ({key, value})),
  }))
  return {fields, dynamic: false, metric: indexParams[0]?.metricType}
}

function described({fields, dynamic, metric, is_loaded}: OpenedCollection) {
  const fieldName = fields.find(({type}) => type === 'FloatVector')?.name
  return {
    collectionName: COLLECTION,
    enableDynamicField: dynamic,
    fields,
    indexes: [{fieldName, indexName: fieldName, ...(metric !== undefined && {metricType: metric})}],
    load: is_loaded ? 'LoadStateLoaded' : 'LoadStateNotLoad',
  }
}

function dimensionsOf({fields}: MilvusCollection): number {
  const params = fields.find(({type}) => type === 'FloatVector')?.params
  return Number(params?.find(({key}) => key === 'dim')?.value)
}

/** Ids that are numbers, or texts. */
const isBefore = (one: string | number, other: string | number) =>
  typeof one === 'number' && typeof other === 'number' ? one < other : String(one) < String(other)

/** A filter of the forms that the gateway has; null for any other text. */
function filterOf(text: string): ((point: TwinPoint) => boolean) | null {
  const clauses = text.split(' and ').map(clause => {
    const [, ids] = /^id in \[([^\]]+)\]$/.exec(clause) ?? []
    if (ids !== undefined) {
      const listed = ids.split(',').map(id => id.replaceAll('"', ''))
      return ({id}: TwinPoint) => listed.includes(String(id))
    }
    const [, behind, behind_number] = /^id > (?:"(\d+)"|(\d+))$/.exec(clause) ?? []
    if (behind !== undefined) return ({id}: TwinPoint) => isBefore(behind, String(id))
    if (behind_number !== undefined) return ({id}: TwinPoint) => isBefore(Number(behind_number), Number(id))
    const [, nested, plain, sign, value, number] =
      /^(?:metadata\["(\w+)"\]|(\w+)) (==|>|<=) (?:"([0-9a-f]*)"|(\d+))$/.exec(clause) ?? []
    const name = nested ?? plain
    if (name === undefined) return null
    return ({members}: TwinPoint) => {
      const is = members[name]
      if (sign === '==') return is === value
      if (typeof is !== 'number') return false
      return sign === '>' ? is > Number(number) : is <= Number(number)
    }
  })
  if (!clauses.every(clause => clause !== null)) return null
  return point => clauses.every(isMatch => isMatch(point))
}
