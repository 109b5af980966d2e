import fc from 'fast-check'
import {expect, test} from 'vitest'
import {IdMap} from '../../src/base/id-map.ts'

const key = fc.oneof(fc.integer({min: 0, max: 300}).map(String), fc.string({maxLength: 3}), fc.uuid())
const step = fc.oneof(
  fc.record({set: key, value: fc.nat()}),
  fc.record({take: key}),
  fc.record({sweep: fc.nat(200), up_to: fc.nat()}),
)

test('a register answers as a Map does, whatever is put in and taken out', () => {
  fc.assert(
    fc.property(fc.array(step, {maxLength: 600}), steps => {
      const register = new IdMap<number>()
      const map = new Map<string, number>()
      for (const each of steps) {
        if ('set' in each) {
          register.set(each.set, each.value)
          map.set(each.set, each.value)
        } else if ('take' in each) {
          expect(register.take(each.take)).toBe(map.get(each.take))
          map.delete(each.take)
        } else {
          const {up_to} = each
          register.sweep(each.sweep, value => value <= up_to)
          for (const [name, value] of map) if (value <= up_to && !register.has(name)) map.delete(name)
        }
        expect(register.size).toBe(map.size)
      }
      for (const [name, value] of map) expect(register.get(name)).toBe(value)
      expect([...register.values()].sort()).toEqual([...map.values()].sort())
    }),
    {numRuns: 60},
  )
})

test('a sweep over all the buckets forgets all that is over and nothing else, however many there are', () => {
  const register = new IdMap<number>()
  for (let n = 0; n < 1000; n++) register.set(`call-${n}`, n)
  for (let n = 0; n < 512; n++) register.sweep(2, value => value % 3 === 0)
  expect(register.size).toBe(666)
  expect(register.get('call-3')).toBeUndefined()
  expect(register.get('call-4')).toBe(4)
})
