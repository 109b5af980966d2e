import {expect, test} from 'vitest'
import {functionName, slugOfLabel} from '../../src/proxy/tool-runs/labels.ts'

test('fact 53: a function is named after its server and its tool, in the characters that providers take', () => {
  expect(functionName('tickets', 'create_ticket')).toBe('mcp__tickets__create_ticket')
  const long = functionName('tickets', 'x'.repeat(100))
  expect(long).toHaveLength(64)
  expect(long).not.toBe(functionName('tickets', `${'x'.repeat(100)}y`))
  const dotted = functionName('tickets', 'a.b')
  expect(dotted).toMatch(/^mcp__tickets__a_b_[0-9a-f]{6}$/)
  expect(dotted).not.toBe(functionName('tickets', 'a/b'))
})

test('fact 53: labels of the gateway are known by either prefix', () => {
  expect(slugOfLabel('@gateway-mcp/tickets')).toBe('tickets')
  expect(slugOfLabel('@portkey-mcp/tickets')).toBe('tickets')
  for (const label of ['tickets', '@other-mcp/tickets', 7, undefined]) expect(slugOfLabel(label)).toBeNull()
})
