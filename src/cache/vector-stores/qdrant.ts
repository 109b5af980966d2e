import {object} from '../../base/json-object.ts'
import {VectorStoreFault} from './fault.ts'
import type {StoreCall, StoreReply} from './http.ts'
import {
  answeredList,
  dimensionsOf,
  type FoundPoint,
  isCosine,
  plainVector,
  pointCursor,
  type StoreWire,
} from './wire.ts'

/** Members of a payload: the partition, and when the entry ends. Filters name them, so they are indexed. */
const INDEXES = {p: 'keyword', e: 'integer'} as const

/** Qdrant from 1.10 on, by its REST interface. */
export function qdrantWire(call: StoreCall, collection: string): StoreWire {
  const path = `/collections/${collection}`

  async function ask(method: 'POST' | 'PUT', rest: string, body: object, signal: AbortSignal): Promise<unknown> {
    return resultOf(await call(method, path + rest, body, signal))
  }

  return {
    async makeReady(dimensions, signal) {
      let reply = await call('GET', path, null, signal)
      if (reply.status === 404) {
        if (dimensions === null) return {dimensions: null, has_cosines: true}
        const made = await call('PUT', path, {vectors: {size: dimensions, distance: 'Cosine'}}, signal)
        if (made.status !== 409) resultOf(made) // 409: another process has just made it
        reply = await call('GET', path, null, signal)
      }
      const {config, payload_schema} = object(resultOf(reply))
      const {size, distance} = object(object(object(config).params).vectors)
      const state = {dimensions: dimensionsOf(size), has_cosines: isCosine(distance)}
      for (const [field_name, field_schema] of Object.entries(INDEXES))
        if (object(object(payload_schema)[field_name]).data_type !== field_schema)
          await ask('PUT', '/index?wait=true', {field_name, field_schema}, signal)
      return state
    },
    async search({partition, vector, most, now_ms, with_vectors}, signal) {
      const must = [
        {key: 'p', match: {value: partition}},
        {key: 'e', range: {gt: now_ms}},
      ]
      const query = {query: plainVector(vector), filter: {must}, limit: most}
      const {points} = object(
        await ask('POST', '/points/query', {...query, with_payload: true, with_vector: with_vectors}, signal),
      )
      return answeredList(points).map(foundPoint)
    },
    async put(points, signal) {
      const sent = points.map(({id, vector, partition, expires_at_ms, sealed}) => ({
        id,
        vector: plainVector(vector),
        payload: {p: partition, e: expires_at_ms, s: sealed},
      }))
      await ask('PUT', '/points?wait=true', {points: sent}, signal)
    },
    async delete(ids, signal) {
      await ask('POST', '/points/delete?wait=true', {points: ids}, signal)
    },
    async scan({from, most, now_ms}, signal) {
      const filter = {must: [{key: 'e', range: {gt: now_ms}}]}
      const read = {filter, limit: most, with_payload: true, with_vector: false, ...(from !== null && {offset: from})}
      const {points, next_page_offset} = object(await ask('POST', '/points/scroll', read, signal))
      const listed = answeredList(points).map(point => {
        const {id, payload} = object(point)
        const {p, s} = object(payload)
        return {id, partition: p, sealed: s}
      })
      return {points: listed, next: pointCursor(next_page_offset)}
    },
    async prune(now_ms, most, signal) {
      const ended = {key: 'e', range: {lte: now_ms}}
      const read = {filter: {must: [ended]}, limit: most, with_payload: false, with_vector: false}
      const {points} = object(await ask('POST', '/points/scroll', read, signal))
      const ids = answeredList(points)
        .map(point => object(point).id)
        .filter(id => typeof id === 'number')
      if (ids.length === 0) return false
      await ask('POST', '/points/delete?wait=true', {filter: {must: [{has_id: ids}, ended]}}, signal)
      return ids.length >= most
    },
  }
}

function foundPoint(point: unknown): FoundPoint {
  const {id, score, payload, vector} = object(point)
  return {id, score, sealed: object(payload).s, vector}
}

function resultOf({status, body}: StoreReply): unknown {
  if (status === 404) throw new VectorStoreFault('gone', 'its collection is not there')
  if (status !== 200) throw new VectorStoreFault('failed', `it answered ${status}`)
  const {result, status: outcome} = object(body)
  if (outcome !== 'ok' || result === undefined) throw new VectorStoreFault('failed', 'its answer has another form')
  return result
}
