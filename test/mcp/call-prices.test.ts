import fc from 'fast-check'
import {expect, test} from 'vitest'
import {priceOfTool, toolPrices} from '../../src/mcp/call/tool-prices.ts'
import {ToolPriceList} from '../../src/schema/tool-prices.ts'

test.each([
  [0, 0],
  [0.5, 5_000_000],
  [1, 10_000_000],
  [0.1, 1_000_000],
  [0.0000001, 1],
  [0.0000012, 12],
  [1.1, 11_000_000],
  [8.2, 82_000_000],
  [899_999.9999999, 8_999_999_999_999],
  [900_000, 9_000_000_000_000],
])('%d cents are %d nano-dollars', (cents, nanousd) => {
  const list = ToolPriceList.parse({default: cents, tools: {echo: cents}})
  expect(priceOfTool(toolPrices(list), 'echo')).toBe(nanousd)
  expect(priceOfTool(toolPrices(list), 'another')).toBe(nanousd)
})

test.each([-1, 0.00000001, 0.00000015, 1e-9, 900_000.1, Number.NaN, Infinity])('%d cents are no price', cents => {
  expect(ToolPriceList.safeParse({default: cents}).success).toBe(false)
})

test('every whole number of nano-dollars that is written in cents is read again', () => {
  fc.assert(
    fc.property(fc.integer({min: 0, max: 9_000_000_000_000}), nanousd => {
      const digits = String(nanousd).padStart(8, '0')
      const cents = Number(`${digits.slice(0, -7)}.${digits.slice(-7)}`)
      expect(priceOfTool(toolPrices(ToolPriceList.parse({default: cents})), 'any')).toBe(nanousd)
    }),
  )
})

test('names of tools are their own, whatever they are', () => {
  const list = ToolPriceList.parse({default: 1, tools: {constructor: 2, toString: 3}})
  const prices = toolPrices(list)
  expect(['constructor', 'toString', 'valueOf', '__proto__'].map(name => priceOfTool(prices, name))).toEqual([
    20_000_000, 30_000_000, 10_000_000, 10_000_000,
  ])
  expect(priceOfTool(toolPrices(undefined), 'any')).toBe(0)
})
