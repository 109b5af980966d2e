import {afterAll, describe, expect, onTestFinished, test} from 'vitest'
import {forRing, generated, RING} from '../support/ring.ts'
import {FIELDS} from './hostile-values/fields.ts'
import {openHouse, PLACES, type Place} from './hostile-values/house.ts'
import {FEW, VALUES} from './hostile-values/values.ts'

/** All of them where there is time, and on the store that is the pickiest. */
const valuesOn = (place: Place) => forRing({own: FEW, ci: place === 'postgres' ? VALUES : FEW, full: VALUES})
const places = forRing({own: PLACES.slice(0, 1), ci: PLACES, full: PLACES})
/** Beyond it a header does not come in at all. */
const MAX_HEAD_BYTES = 8_192
let cases = 0

describe.each(places)('hostile values over %s', place => {
  test(
    'harm neither the limits of a tenant, nor its ledger, nor the next start',
    async () => {
      const house = await openHouse(place)
      onTestFinished(() => house.close())
      await house.useUp()
      for (const field of FIELDS) {
        for (const value of valuesOn(place)) {
          house.provider.usage = field.usage?.(value) ?? house.provider.usual
          const status = await house.ask(field.request(value))
          house.provider.usage = house.provider.usual
          const is_whole = value.text.length <= MAX_HEAD_BYTES
          // our own faults are 500, a store that is taken for silent is 503, and only what is too long for a head may
          // get no answer
          expect([field.name, value.name, status], `${field.name}, ${value.name}`).toEqual([
            field.name,
            value.name,
            expect.toSatisfy((code: number) => {
              if (code === 0) return !is_whole
              return code !== 500 && code !== 503 && (!field.is_free || !is_whole || code === 200)
            }),
          ])
          cases++
        }
        expect([field.name, ...(await house.tenant())]).toEqual([field.name, 429, 412, 200])
      }
      expect(house.faults()).toEqual([])
      const {calls} = house.provider
      await house.restart()
      expect(await house.tenant()).toEqual([place === 'sqlite' ? 200 : 429, 412, 200])
      const more = house.provider.calls - calls
      expect(await house.verified()).toEqual({breaks: [], set_aside: 0, entries: calls + more})
    },
    forRing({own: 30_000, ci: 120_000, full: 240_000}),
  )
})

afterAll(() => {
  if (RING !== 'own') expect(cases).toBeGreaterThanOrEqual(600)
  generated('hostile values', cases)
})
