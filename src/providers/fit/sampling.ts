import {type Json, UnsupportedInputFault} from '../translation.ts'
import type {Demands} from './rows.ts'

type Report = (adaptation: string) => void

/** Stop sequences and numbers as the provider takes them. */
export function fittingSampling(request: Json, demands: Demands, report: Report): Json {
  const sampled = demands.refuses_sampling ? withoutSampling(request, report) : request
  const stopped = demands.stop ? withStops(sampled, demands.stop, report) : sampled
  return demands.ranges ? withRanges(stopped, demands.ranges, report) : stopped
}

function withoutSampling(request: Json, report: Report): Json {
  const given = ['temperature', 'top_p', 'top_k'].filter(name => request[name] !== undefined && request[name] !== null)
  if (given.length === 0) return request
  for (const name of given) report(`dropped ${name}: the model takes none`)
  return Object.fromEntries(Object.entries(request).filter(([name]) => !given.includes(name)))
}

function withStops(request: Json, {most, refuses}: NonNullable<Demands['stop']>, report: Report): Json {
  const {stop} = request
  const all: readonly unknown[] = typeof stop === 'string' ? [stop] : Array.isArray(stop) ? stop : []
  if (all.length === 0) return request
  const kept = all.filter((each, at) => {
    const is_refused = typeof each === 'string' && (refuses === 'blank' ? each.trim() : each) === ''
    if (is_refused) report(`dropped stop[${at}]: ${refuses}`)
    return !is_refused
  })
  if (most !== undefined && kept.length > most)
    throw new UnsupportedInputFault('stop', `expected at most ${most} sequences; the provider takes no more`)
  if (kept.length === all.length) return request
  const {stop: _, ...others} = request
  return kept.length > 0 ? {...others, stop: kept} : others
}

function withRanges(request: Json, ranges: NonNullable<Demands['ranges']>, report: Report): Json {
  const changed: Record<string, unknown> = {...request}
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value = request[name]
    if (typeof value !== 'number' || !(value < least || value > most)) continue
    changed[name] = Math.min(most, Math.max(least, value))
    report(`converted ${name}: from ${least} to ${most}`)
  }
  return changed
}
