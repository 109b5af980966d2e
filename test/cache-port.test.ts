import {expect, test} from 'vitest'
import {type ServedCacheParts, servedCachePort} from '../src/app/cache-port.ts'
import type {KeptAnswers} from '../src/ports/cache/index.ts'

/** The port of a gateway whose stores note what is done to them. */
function portOf({fails = false} = {}) {
  const done: string[] = []
  const kept = (name: string): KeptAnswers => ({
    list: async () => ({total: 0, rows: []}),
    async clear() {
      done.push(`clear ${name}`)
      if (fails) throw new Error('the store is away')
      return 1
    },
  })
  const parts = {
    cache: {kept: kept('answers'), drop: () => void done.push('drop copies')},
    likenesses: kept('likenesses'),
    settled: async () => void done.push('write what waits'),
    services: {},
  }
  return {port: servedCachePort(parts as unknown as ServedCacheParts), done}
}

const FILTER = {workspace_ids: ['w']}

test('what waits to be written does not come back after a clearing', async () => {
  const {port, done} = portOf()
  expect([await port.clear('simple', FILTER), await port.clear('semantic', FILTER)]).toEqual([1, 1])
  expect(done).toEqual(['clear answers', 'drop copies', 'write what waits', 'clear likenesses', 'drop copies'])
})

test('copies in memory are dropped, too, where a store failed: a part of it may be cleared', async () => {
  const {port, done} = portOf({fails: true})
  await expect(port.clear('simple', FILTER)).rejects.toThrow('the store is away')
  expect(done).toEqual(['clear answers', 'drop copies'])
})
