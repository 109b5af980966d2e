import {type Answer, fakeProvider, type Heard, json} from '../provider.ts'

/** A point as a twin has it: members as they were sent. */
export interface TwinPoint {
  readonly id: string | number
  readonly vector: readonly number[]
  readonly members: Readonly<Record<string, unknown>>
}

/** The same for tests, whatever the product calls its members. */
export interface TwinEntry {
  readonly id: string
  readonly partition: unknown
  readonly ends_at_ms: unknown
  readonly sealed: unknown
  readonly vector: readonly number[]
}

/**
 * A vector store on loopback that speaks as a product does, by its public REST reference: paths, bodies, statuses,
 * filters and refusals. It is not the product: nothing here was run against one.
 */
export interface StoreTwin {
  readonly product: 'milvus' | 'pinecone' | 'qdrant'
  readonly url: string
  readonly received: Heard[]
  /** By which a gateway uses it. */
  readonly settings: Readonly<Record<string, string>>
  entries(): readonly TwinEntry[]
  /** Writes an entry past the interface. */
  write(entry: TwinEntry): void
  /** While true, reads see what was there when that began. */
  behind(is_behind: boolean): void
  /** Answers searches with other scores. */
  scores(change: ((score: number) => unknown) | null): void
  /** Answers all requests so, or those whose path matches, in place of the product; null: as the product again. */
  answers(answer: Answer | null, paths?: RegExp): void
  /** Refuses requests whose path matches, as for a key that may only read; null: none. */
  refuses(paths: RegExp | null): void
  /** Runs before the next request whose path has this in it. */
  before(part: string, run: () => void): void
  /** The collection is no longer there. */
  drop(): void
  close(): Promise<void>
}

export interface TwinReply {
  readonly status?: number
  /** A text is sent as plain text. */
  readonly body: unknown
}

export interface MemberNames {
  readonly partition: string
  readonly ends_at_ms: string
  readonly sealed: string
}

/** The points of a collection. */
export class TwinPoints {
  readonly all = new Map<string, TwinPoint>()
  #seen: ReadonlyMap<string, TwinPoint> | null = null

  get seen(): readonly TwinPoint[] {
    return [...(this.#seen ?? this.all).values()]
  }

  behind(is_behind: boolean) {
    this.#seen = is_behind ? new Map(this.all) : null
  }

  put(point: TwinPoint) {
    this.all.set(String(point.id), point)
  }

  entries(names: MemberNames): TwinEntry[] {
    return [...this.all.values()].map(({id, vector, members}) => ({
      id: String(id),
      vector,
      partition: members[names.partition],
      ends_at_ms: members[names.ends_at_ms],
      sealed: members[names.sealed],
    }))
  }
}

export function membersOf({partition, ends_at_ms, sealed}: TwinEntry, names: MemberNames): TwinPoint['members'] {
  return {[names.partition]: partition, [names.ends_at_ms]: ends_at_ms, [names.sealed]: sealed}
}

export type TwinMetric = 'cosine' | 'dotproduct' | 'euclidean'

const dot = (one: readonly number[], other: readonly number[]) =>
  one.reduce((sum, value, at) => sum + value * other[at]!, 0)

function scoreOf(metric: TwinMetric, one: readonly number[], other: readonly number[]): number {
  if (metric === 'dotproduct') return dot(one, other)
  if (metric === 'cosine') return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other))
  return one.reduce((sum, value, at) => sum + (value - other[at]!) ** 2, 0)
}

/** The nearest points with their scores, as a metric has them: of distances the least is the nearest. */
export function nearest(points: readonly TwinPoint[], vector: readonly number[], metric: TwinMetric, most: number) {
  const sign = metric === 'euclidean' ? -1 : 1
  return points
    .map(point => ({point, score: scoreOf(metric, point.vector, vector)}))
    .toSorted((one, other) => sign * (other.score - one.score))
    .slice(0, most)
}

/** A server that answers with `handle`, and what tests can do to it. */
export async function startTwin(handle: (request: Heard) => TwinReply) {
  let instead: Answer | null = null
  let instead_at = /^/
  let refused: RegExp | null = null
  const hooks: {readonly part: string; readonly run: () => void}[] = []
  const server = await fakeProvider((request, response, message) => {
    const at = hooks.findIndex(({part}) => request.path.includes(part))
    if (at >= 0) hooks.splice(at, 1)[0]!.run()
    if (instead && instead_at.test(request.path)) return instead(request, response, message)
    if (refused?.test(request.path)) return json(response, {message: 'it may only be read'}, 403)
    const {status = 200, body} = handle(request)
    if (typeof body === 'string') return response.writeHead(status, {'content-type': 'text/plain'}).end(body)
    return json(response, body, status)
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    received: server.received,
    answers(answer: Answer | null, paths = /^/) {
      instead = answer
      instead_at = paths
    },
    refuses(paths: RegExp | null) {
      refused = paths
    },
    before(part: string, run: () => void) {
      hooks.push({part, run})
    },
    close: () => server.close(),
  }
}

export const bodyOf = ({body}: Heard) =>
  (body.length === 0 ? {} : JSON.parse(body.toString())) as Readonly<Record<string, unknown>>
