import {describe, expect, test} from 'vitest'
import {doorsPage} from '../../../src/providers/vendor-operations/docs-page.ts'
import {vendorOperation} from '../../../src/providers/vendor-operations/find.ts'
import {VENDOR_OPERATIONS} from '../../../src/providers/vendor-operations/table.ts'

test('docs/doors.md is what the table says', async () => {
  await expect(doorsPage(VENDOR_OPERATIONS)).toMatchFileSnapshot('../../../docs/doors.md')
})

/** A path that the pattern of a row is made for. */
function example(path: string): string {
  return path
    .replace('{@model+}', '@cf/meta/m1')
    .replace('{model+}', 'org/m1')
    .replaceAll('{model}', 'm1')
    .replaceAll('{id}', 'x1')
    .replace('*', 'a/b')
}

describe('every row of the table', () => {
  test.each(VENDOR_OPERATIONS.map(row => [`${row.method} ${row.path}`, row] as const))(
    '%s is found by its own path',
    (_, row) => {
      const kind = row.kinds === 'all' ? 'openai' : row.kinds[0]!
      const path = example(row.path)
      const found = vendorOperation(kind, row.method, path)
      expect(found?.operation.name).toBe(row.name)
      for (const prefix of ['/v1', '/v1beta', '/openai/v1'])
        expect(vendorOperation(kind, row.method, prefix + path)?.operation.name).toBe(row.name)
      expect(vendorOperation(kind, row.method, `${path}/`)?.operation.name).toBe(row.name)
      expect(vendorOperation(kind, row.method, path.replace('/', '/').replaceAll('e', '%65'))?.operation.name).toBe(
        row.name,
      )
      expect(found!.path_model === null).toBe(!row.path.includes('model}') && !row.path.includes('model+}'))
    },
  )

  test('says what it is in money, and reads models only where there may be some', () => {
    for (const {name, models, path, generates, money, endpoint} of VENDOR_OPERATIONS) {
      if (/\{@?model\+?\}/.test(path) && money !== 'free') expect([name, models.includes('path')]).toEqual([name, true])
      if (generates) expect([name, money === 'free']).toEqual([name, false])
      if (endpoint) expect([name, money]).toEqual([name, 'costed'])
    }
  })
})
