import {expect, test} from 'vitest'
import {Refusal} from '../../../src/base/errors.ts'
import {refusalText} from '../../../src/base/ingress/refusal-text.ts'

test('a refusal before there is a request has an id of its own, in both headers', () => {
  const ids = [1, 2].map(() => {
    const head = refusalText(new Refusal('draining')).split('\r\n\r\n', 1)[0]!
    const [, id] = /^X-Gateway-Trace-Id: ([\da-f-]{36})$/m.exec(head) ?? []
    expect(head.split('\r\n')).toContain(`X-Request-Id: ${id}`)
    return id
  })
  expect(new Set(ids).size).toBe(2)
})
