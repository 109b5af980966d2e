import {describe, expect, test} from 'vitest'
import {list} from '../../src/providers/registry.ts'
import {operationCases, play} from '../support/provider-operations.ts'

const all = operationCases()

describe.each(all)('%s', (slug, cases) => {
  test.each(cases.map(each => [`${each.endpoint}: ${each.name}`, each] as const))('%s', async (_name, each) => {
    expect(each.source).toMatch(/^https:\/\//)
    await play(slug, each)
  })
})

test('every provider with calls of its own is in the fixtures, with every endpoint it says it has', () => {
  for (const {slug, operations} of list()) {
    const own = Object.keys(operations?.endpoints ?? {}).filter(name => name !== 'getBatchOutput')
    if (own.length === 0) continue
    const tested = all
      .filter(([provider]) => provider === slug)
      .flatMap(([, cases]) => cases.map(({endpoint}) => endpoint))
    const is_whole = ['bedrock', 'vertex-ai', 'anthropic'].includes(slug) // over loopback, with the client's own library
    expect({slug, missing: is_whole ? [] : own.filter(name => !tested.includes(name as never))}).toEqual({
      slug,
      missing: [],
    })
  }
})
