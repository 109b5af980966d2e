import {setImmediate as turn} from 'node:timers/promises'
import {expect, test} from 'vitest'
import {atTurnEnd, endTurn} from '../../src/base/turn-end.ts'

test('what the end of a turn brings about runs behind it in the same turn, all else later', async () => {
  const order: string[] = []
  setImmediate(() => {
    endTurn(() => {
      atTurnEnd(() => order.push('brought about'))
      order.push('end')
    })
    setImmediate(() => order.push('next turn'))
    atTurnEnd(() => order.push('end of the next turn'))
  })
  setImmediate(() => order.push('another end'))
  await turn()
  await turn()
  expect(order).toEqual(['end', 'brought about', 'another end', 'next turn', 'end of the next turn'])
})

test('an end that fails is over all the same', async () => {
  const fault = new Error('no')
  const fails = () => {
    throw fault
  }
  expect(() => endTurn(fails)).toThrow(fault)
  let runs = 0
  atTurnEnd(() => runs++)
  await Promise.resolve()
  expect(runs).toBe(0)
  await turn()
  expect(runs).toBe(1)
})
