import {collectDefaultMetrics, Registry} from 'prom-client'
import {expect, test} from 'vitest'
import {collectProcessMetrics} from '../../src/base/process-metrics.ts'

test('there is every metric of the library, but for the durations of collections', async () => {
  const [theirs, ours] = [new Registry(), new Registry()]
  collectDefaultMetrics({register: theirs, prefix: 'node_'})
  const watchLoop = collectProcessMetrics(ours, 'node_')
  const names = (registry: Registry) => registry.getMetricsAsArray().map(({name}) => name)
  const all = names(theirs).filter(name => name !== 'node_nodejs_gc_duration_seconds')
  // a process whose page has no reader is not woken a hundred times a second
  expect(names(ours)).toEqual(all.filter(name => !name.includes('eventloop_lag')))
  watchLoop()
  watchLoop()
  expect(names(ours).sort()).toEqual(all.sort())
  expect(await ours.metrics()).toMatch(/^node_process_cpu_seconds_total \d/m)
})
