import {readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import {expect, test} from 'vitest'
import {accessTables} from '../../src/identity/docs-page.ts'

test('docs/access.md has the tables of the code', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/access.md'), 'utf8')
  const {permissions, settings} = accessTables()
  expect(page).toContain(`\n${permissions}\n`)
  expect(page).toContain(`\n${settings}\n`)
})
