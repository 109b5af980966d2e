import {spawnSync} from 'node:child_process'
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'test/mutants')
const PATCHES = readdirSync(FOLDER).filter(name => name.endsWith('.patch'))
const hasGit = spawnSync('git', ['--version']).status === 0

// A patch that does not apply tests nothing, and only the long ring would notice.
describe('mutants', () => {
  test.each(PATCHES)('%s names its mechanism and a test that is there', name => {
    const text = readFileSync(join(FOLDER, name), 'utf8')
    expect(text).toMatch(/^Mechanism: \S/m)
    const caught_by = /^Caught by: (\S+)/m.exec(text)?.[1]
    expect(() => readFileSync(join(ROOT, String(caught_by)))).not.toThrow()
  })

  test.runIf(hasGit)('apply to the code as it is', {timeout: 60_000}, () => {
    const stale = PATCHES.filter(
      name => spawnSync('git', ['apply', '--check', join(FOLDER, name)], {cwd: ROOT}).status !== 0,
    )
    expect(stale).toEqual([])
  })
})
