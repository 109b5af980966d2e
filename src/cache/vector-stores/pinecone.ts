import {readBaseUrl} from '../../base/egress/base-url.ts'
import {isObject, object} from '../../base/json-object.ts'
import {VectorStoreFault} from './fault.ts'
import type {OpenStoreCall, StoreCall, StoreReply} from './http.ts'
import {answeredList, dimensionsOf, isCosine, plainVector, pointCursor, type StoreWire} from './wire.ts'

const API_VERSION = '2025-10'
const CONTROL_PLANE = 'https://api.pinecone.io'
/** Hosts of indexes; the credential goes to no other. */
const DOMAIN = '.pinecone.io'
/** Lists of points have their vectors too, whether they are wanted or not. */
const MOST_LISTED = 40
const INDEX_NAME = /^[a-z0-9](?:[a-z0-9-]{0,43}[a-z0-9])?$/

export interface PineconePlace {
  /** The name of an index, its host, or a URL. */
  readonly address: string
  readonly api_key: string
  readonly namespace: string
  /** The API that knows indexes by name. */
  readonly control_plane?: string
}

/**
 * Pinecone's indexes of dense vectors, by their REST interface. All entries are in one namespace, and the partition is
 * a member of their metadata: there are as many partitions as there are system prompts and conversations, and an index
 * has a bounded number of namespaces. Indexes are not made here: they cost money, and have a cloud and a region.
 */
export function pineconeWire(open: OpenStoreCall, place: PineconePlace): StoreWire {
  const {address, api_key, namespace, control_plane = CONTROL_PLANE} = place
  const headers = {'api-key': api_key, 'x-pinecone-api-version': API_VERSION}
  const name = INDEX_NAME.test(address) ? address : null
  let index: StoreCall | null = null

  async function ask(path: string, body: object, signal: AbortSignal): Promise<StoreReply> {
    if (!index) throw new VectorStoreFault('failed', 'its index is not known')
    return index('POST', path, body, signal)
  }

  /** The host of the index, as the API says it, and the index. */
  async function byName(control: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const {hostname, secure} = readBaseUrl(control)
    const reply = await open({url: control, host: hostname, headers})('GET', `/indexes/${name}`, null, signal)
    if (reply.status === 404) throw new VectorStoreFault('unfit', 'there is no index of this name')
    const described = answered(reply)
    const url = `${secure ? 'https' : 'http'}://${String(described.host)}`
    const host = readBaseUrl(url)
    if (host.path !== '' || !(host.hostname.endsWith(DOMAIN) || host.hostname === hostname))
      throw new VectorStoreFault('unfit', 'the host of its index is not one of Pinecone')
    index = open({url, host: hostname, headers})
    return described
  }

  async function byHost(signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const url = address.includes('://') ? address : `https://${address}`
    index = open({url, host: readBaseUrl(url).hostname, headers})
    return answered(await ask('/describe_index_stats', {}, signal))
  }

  return {
    async makeReady(_, signal) {
      const {dimension, metric} = name ? await byName(control_plane, signal) : await byHost(signal)
      return {dimensions: dimensionsOf(dimension), has_cosines: isCosine(metric)}
    },
    async search({partition, vector, most, now_ms, with_vectors}, signal) {
      const reply = await ask(
        '/query',
        {
          namespace,
          vector: plainVector(vector),
          topK: most,
          filter: {p: {$eq: partition}, e: {$gt: now_ms}},
          includeMetadata: true,
          includeValues: with_vectors,
        },
        signal,
      )
      if (isNoNamespace(reply)) return []
      return answeredList(answered(reply).matches).map(match => {
        const {id, score, metadata, values} = object(match)
        return {id, score, sealed: object(metadata).s, vector: values}
      })
    },
    async put(points, signal) {
      const vectors = points.map(({id, vector, partition, expires_at_ms, sealed}) => ({
        id: String(id),
        values: plainVector(vector),
        metadata: {p: partition, e: expires_at_ms, s: sealed},
      }))
      answered(await ask('/vectors/upsert', {namespace, vectors}, signal))
    },
    async delete(ids, signal) {
      const reply = await ask('/vectors/delete', {namespace, ids: ids.map(String)}, signal)
      if (!isNoNamespace(reply)) answered(reply)
    },
    async scan({from, most, now_ms}, signal) {
      const page = {limit: Math.min(most, MOST_LISTED), ...(from !== null && {paginationToken: from})}
      const wanted = {namespace, filter: {e: {$gt: now_ms}}, ...page}
      const reply = await ask('/vectors/fetch_by_metadata', wanted, signal)
      if (isNoNamespace(reply)) return {points: [], next: null}
      const {vectors, pagination} = answered(reply)
      const points = Object.entries(object(vectors)).map(([id, vector]) => {
        const {p, s} = object(object(vector).metadata)
        return {id, partition: p, sealed: s}
      })
      return {points, next: pointCursor(object(pagination).next)}
    },
    async prune(now_ms, _, signal) {
      const reply = await ask('/vectors/delete', {namespace, filter: {e: {$lte: now_ms}}}, signal)
      if (!isNoNamespace(reply)) answered(reply)
      return false
    },
  }
}

/** A namespace is there from its first entry to its last. */
function isNoNamespace({status, body}: StoreReply): boolean {
  return status === 404 && /namespace/i.test(String(object(body).message))
}

function answered({status, body}: StoreReply): Readonly<Record<string, unknown>> {
  if (status === 404) throw new VectorStoreFault('gone', 'its index is not there')
  if (status !== 200) throw new VectorStoreFault('failed', `it answered ${status}`)
  if (!isObject(body)) throw new VectorStoreFault('failed', 'its answer has another form')
  // answers have no code; errors do, and a proxy may send one with the status of an answer
  const code = body.code ?? 0
  if (code === 0) return body
  throw new VectorStoreFault('failed', `it answered 200 with ${typeof code === 'number' ? `code ${code}` : 'an error'}`)
}
