import {isObject, list, object, parsed} from '../../base/json-object.ts'
import {VectorStoreFault} from './fault.ts'
import type {StoreCall} from './http.ts'
import {
  answeredList,
  dimensionsOf,
  type FoundPoint,
  isCosine,
  type PointCursor,
  plainVector,
  type StoredPoint,
  type StoreWire,
} from './wire.ts'

/** It was 200 in the first versions of this interface. */
const DONE: ReadonlySet<unknown> = new Set([0, 200])
/** A collection that is not there, in this and in earlier versions. */
const GONE: ReadonlySet<unknown> = new Set([100, 4])
/** Fields of an entry beside its id and its vector. */
const FIELDS = ['workspace_id', 'expires_at', 'entry'] as const
const PLACE_CHARS = 64
const SEALED_CHARS = 16_384

/** The fields of a collection that entries are written to. Operators of services of this kind made it by two charts. */
interface MilvusLayout {
  readonly vector: 'vector' | 'values'
  readonly has_text_ids: boolean
  /** Entries are one field of JSON, `metadata`. */
  readonly is_nested: boolean
}

/** Milvus from 2.3 on, by version 2 of its REST interface. Its errors come with status 200 and a code. */
export function milvusWire(call: StoreCall, collection: string): StoreWire {
  let layout: MilvusLayout = {vector: 'vector', has_text_ids: true, is_nested: false}
  const named = (field: (typeof FIELDS)[number]) => (layout.is_nested ? `metadata["${field}"]` : field)

  async function ask(path: string, body: object, signal: AbortSignal): Promise<unknown> {
    const {status, body: answer} = await call(
      'POST',
      `/v2/vectordb/${path}`,
      {collectionName: collection, ...body},
      signal,
    )
    const {code, data} = object(answer)
    if (status === 200 && DONE.has(code)) return data
    if (GONE.has(code)) throw new VectorStoreFault('gone', 'its collection is not there')
    const with_code = typeof code === 'number' ? ` with code ${code}` : ''
    throw new VectorStoreFault('failed', `it answered ${status}${with_code}`)
  }

  const anyOf = (ids: readonly string[]) => `id in [${ids.map(id => (layout.has_text_ids ? `"${id}"` : id)).join(',')}]`

  return {
    async makeReady(dimensions, signal) {
      if (object(await ask('collections/has', {}, signal)).has !== true) {
        if (dimensions === null) return {dimensions: null, has_cosines: true}
        await ask('collections/create', newCollection(dimensions), signal)
      }
      const found = read(object(await ask('collections/describe', {}, signal)))
      layout = found.layout
      await ask('collections/load', {}, signal)
      return found
    },
    async search({partition, vector, most, now_ms, with_vectors}, signal) {
      const rows = await ask(
        'entities/search',
        {
          data: [plainVector(vector)],
          annsField: layout.vector,
          filter: `${named('workspace_id')} == "${partition}" and ${named('expires_at')} > ${now_ms}`,
          limit: most,
          outputFields: [layout.is_nested ? 'metadata' : 'entry', ...(with_vectors ? [layout.vector] : [])],
        },
        signal,
      )
      return answeredList(rows).map(row => foundPoint(object(row), layout))
    },
    async put(points, signal) {
      await ask('entities/upsert', {data: points.map(point => rowOf(point, layout))}, signal)
    },
    async delete(ids, signal) {
      await ask('entities/delete', {filter: anyOf(ids.map(String))}, signal)
    },
    async scan({from, most, now_ms}, signal) {
      const alive = `${named('expires_at')} > ${now_ms}`
      const after = from === null ? '' : ` and id > ${layout.has_text_ids ? `"${from}"` : from}`
      const outputFields = ['id', ...(layout.is_nested ? ['metadata'] : ['workspace_id', 'entry'])]
      const wanted = {filter: alive + after, limit: most, outputFields}
      const rows = answeredList(await ask('entities/query', wanted, signal)).map(row => object(row))
      const points = rows.map(row => {
        const {workspace_id, entry} = membersOf(row, layout)
        return {id: row.id, partition: workspace_id, sealed: entry}
      })
      // rows come in the order of their primary key
      return {points, next: rows.length < most ? null : lastId(rows.at(-1)?.id, from)}
    },
    async prune(now_ms, most, signal) {
      const ended = `${named('expires_at')} <= ${now_ms}`
      const wanted = {filter: ended, limit: most, outputFields: ['id']}
      const rows = answeredList(await ask('entities/query', wanted, signal))
      // ids of ours are digits: nothing else gets into the text of a filter
      const ids = rows.map(row => String(object(row).id)).filter(id => /^\d{1,16}$/.test(id))
      if (ids.length === 0) return false
      await ask('entities/delete', {filter: `${anyOf(ids)} and ${ended}`}, signal)
      return ids.length >= most
    },
  }
}

function newCollection(dimensions: number): object {
  const text = (fieldName: string, chars: number, more: object = {}) => ({
    ...{fieldName, dataType: 'VarChar', elementTypeParams: {max_length: String(chars)}},
    ...more,
  })
  const fields = [
    text('id', 32, {isPrimary: true}),
    {fieldName: 'vector', dataType: 'FloatVector', elementTypeParams: {dim: String(dimensions)}},
    text('workspace_id', PLACE_CHARS),
    {fieldName: 'expires_at', dataType: 'Int64'},
    text('entry', SEALED_CHARS),
  ]
  const index = {fieldName: 'vector', indexName: 'vector', metricType: 'COSINE', params: {index_type: 'AUTOINDEX'}}
  return {schema: {fields}, indexParams: [index]}
}

/** A collection as its description says it. Refuses one that takes no entries. */
function read({fields: described, indexes, enableDynamicField}: Readonly<Record<string, unknown>>) {
  const fields = new Map(list(described).map(field => [object(field).name, object(field)] as const))
  const vector = (['vector', 'values'] as const).find(name => fields.get(name)?.type === 'FloatVector')
  if (!vector) throw new VectorStoreFault('unfit', 'its collection has no field for vectors, vector or values')
  const id = object(fields.get('id'))
  if (id.primaryKey !== true || id.autoId === true || (id.type !== 'VarChar' && id.type !== 'Int64'))
    throw new VectorStoreFault('unfit', 'its collection has no primary key id that the writer chooses')
  const is_flat = enableDynamicField === true || FIELDS.every(name => fields.has(name))
  if (!is_flat && fields.get('metadata')?.type !== 'JSON')
    throw new VectorStoreFault('unfit', 'its collection takes no further fields, and has no field metadata of JSON')
  const room = Number(parameter(fields.get('workspace_id'), 'max_length') ?? PLACE_CHARS)
  if (is_flat && !(room >= PLACE_CHARS))
    throw new VectorStoreFault('unfit', `its field workspace_id has less than ${PLACE_CHARS} characters`)
  const index = list(indexes).find(each => object(each).fieldName === vector)
  return {
    dimensions: dimensionsOf(parameter(fields.get(vector), 'dim')),
    has_cosines: isCosine(object(index).metricType),
    layout: {vector, has_text_ids: id.type === 'VarChar', is_nested: !is_flat},
  }
}

function parameter(field: Readonly<Record<string, unknown>> | undefined, key: string): unknown {
  return object(list(field?.params).find(each => object(each).key === key)).value
}

function rowOf({id, vector, partition, expires_at_ms, sealed}: StoredPoint, layout: MilvusLayout): object {
  const entry = {workspace_id: partition, expires_at: expires_at_ms, entry: sealed}
  return {
    id: layout.has_text_ids ? String(id) : id,
    [layout.vector]: plainVector(vector),
    ...(layout.is_nested ? {metadata: entry} : entry),
  }
}

function foundPoint(row: Readonly<Record<string, unknown>>, layout: MilvusLayout): FoundPoint {
  return {id: row.id, score: row.distance, sealed: membersOf(row, layout).entry, vector: row[layout.vector]}
}

/** The members of an entry; a field of JSON comes as an object or as its text. */
function membersOf(row: Readonly<Record<string, unknown>>, {is_nested}: MilvusLayout) {
  const {metadata} = row
  if (!is_nested) return row
  return isObject(metadata) ? metadata : object(parsed(typeof metadata === 'string' ? metadata : ''))
}

/** The id behind which the next page begins. Only digits get into the text of a filter: all ids of ours are such. */
function lastId(id: unknown, before: PointCursor): PointCursor {
  const last = String(id)
  if (/^\d{1,16}$/.test(last) && last !== String(before)) return last
  throw new VectorStoreFault('failed', 'its rows are not in the order of their ids, or have ids of others')
}
