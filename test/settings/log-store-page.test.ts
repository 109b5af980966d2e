import {readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import {expect, test} from 'vitest'
import {objectKey} from '../../src/ports/blobs/paths.ts'
import {logStoreSettings} from '../../src/settings/index.ts'
import {NAMES, row} from '../../src/settings/table.ts'
import {read} from './support.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/log-store.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(match => match[1]!)

test.each(blocks('env'))('a gateway starts with what docs/log-store.md shows: %s', block => {
  const env = Object.fromEntries(
    block
      .trim()
      .split('\n')
      .map(line => line.split(/=(.*)/s, 2)),
  )
  expect(logStoreSettings(read({env}).settings)).toMatchObject({base_url: expect.stringMatching(/^https:\/\/.+[^/]$/)})
})

test('docs/log-store.md speaks of settings that there are, and of every kind of store', () => {
  const named = [...page.matchAll(/\b(?:LOG|AZURE|GCP|KMS|SSE|AWS)_[A-Z_]+[A-Z]\b/g)].map(([name]) => name)
  const known = new Set<string>(NAMES)
  expect(named.filter(name => !known.has(name) && name !== 'GCP_WIF')).toEqual([])
  for (const kind of row('LOG_STORE').kind.takes.split(/, | or /)) expect(page).toContain(`\`${kind}\``)
})

test('docs/log-store.md shows keys as they are made', () => {
  const of = {
    log_id: 'LOG',
    organisation_id: 'ORGANISATION',
    workspace_slug: 'WORKSPACE',
    created_at: '2026-03-04T05:06:07.008Z',
    retention_days: read({}).settings.log_body_retention_days,
  }
  for (const format of ['v1', 'v2'] as const) expect(page).toContain(`| \`${format}\` | \`${objectKey(format, of)}\` |`)
})
