// biome-ignore-all lint/suspicious/noExplicitAny: shapes of a generated decoder
import {decoded, type ForeignAttributes} from './decoder.ts'

export interface ForeignPoint {
  readonly metric: string
  readonly unit: string
  readonly attributes: ForeignAttributes
  readonly resource: ForeignAttributes
  readonly start: bigint
  readonly time: bigint
  /** Of a sum its value, of a histogram its sum. */
  readonly sum: number
  readonly count: number | null
  readonly bounds: readonly number[]
  readonly counts: readonly number[]
}

/** The points of a request, as the decoder of others reads them; a metric that is not cumulative throws. */
export function pointsIn(type: string, body: Buffer): ForeignPoint[] {
  const {resourceMetrics} = decoded('metrics', type, body)
  return resourceMetrics.flatMap(({resource, scopeMetrics}: any) =>
    scopeMetrics.flatMap(({metrics}: any) =>
      metrics.flatMap(({name, unit, sum, histogram}: any) => {
        const {dataPoints, aggregationTemporality, isMonotonic} = sum ?? histogram
        if (aggregationTemporality !== 2 || (sum && !isMonotonic)) throw new Error(`${name} is not cumulative`)
        return dataPoints.map((point: any) => ({
          metric: name,
          unit,
          attributes: attributes(point.attributes),
          resource: attributes(resource.attributes),
          start: BigInt(point.startTimeUnixNano),
          time: BigInt(point.timeUnixNano),
          sum: sum ? point.asDouble : point.sum,
          count: histogram ? Number(point.count) : null,
          bounds: point.explicitBounds ?? [],
          counts: (point.bucketCounts ?? []).map(Number),
        }))
      }),
    ),
  )
}

function attributes(list: any): ForeignAttributes {
  return Object.fromEntries((list ?? []).map(({key, value}: any) => [key, Object.values(value)[0]]))
}

/** The sum of all points of a metric that have these attributes. */
export function sumOf(points: readonly ForeignPoint[], metric: string, having: ForeignAttributes = {}): number {
  return points
    .filter(point => point.metric === metric)
    .filter(point => Object.entries(having).every(([name, value]) => point.attributes[name] === value))
    .reduce((sum, point) => sum + point.sum, 0)
}
