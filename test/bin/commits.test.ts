import {spawnSync} from 'node:child_process'
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join, resolve} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'

const CHECK = resolve(import.meta.dirname, '../../.ci/commits')
const hasGit = spawnSync('git', ['--version']).status === 0

let repository: string

function git(...args: string[]): string {
  const names = ['-c', 'user.name=test', '-c', 'user.email=test@test.invalid', '-c', 'commit.gpgsign=false']
  const {status, stdout, stderr} = spawnSync('git', [...names, ...args], {cwd: repository, encoding: 'utf8'})
  if (status !== 0) throw new Error(stderr)
  return stdout.trim()
}

function commit(message: string, files: Readonly<Record<string, string>>) {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, file)), {recursive: true})
    writeFileSync(join(repository, file), text)
  }
  git('add', '-A')
  git('commit', '-q', '-m', message)
}

function judged(base: string): {readonly status: number | null; readonly text: string} {
  const {status, stdout, stderr} = spawnSync('bash', [CHECK, base], {
    encoding: 'utf8',
    env: {...process.env, COMMITS_OF: repository},
  })
  return {status, text: stdout + stderr}
}

const lines = (count: number) => 'line\n'.repeat(count)

describe.runIf(hasGit)('the check of commits', () => {
  let base: string
  beforeEach(() => {
    repository = mkdtempSync(join(tmpdir(), 'commits-'))
    git('init', '-q', '-b', 'main')
    commit('The first', {'a.txt': 'a'})
    base = git('rev-parse', 'HEAD')
  })
  afterEach(() => rmSync(repository, {recursive: true, force: true}))

  test('passes what CONTRIBUTING asks for', () => {
    commit('A short one needs no body', {'a.txt': lines(40)})
    commit('A long one says why\n\nBecause of that.', {'b.txt': lines(300)})
    commit('A file that a command writes counts nothing', {'docs/settings.md': lines(300)})
    commit(`Wiped caches are filled at once ${'ü'.repeat(40)}`, {'a.txt': 'b'})
    expect(judged(base)).toEqual({status: 0, text: 'commits: 4 judged, 0 faults\n'})
  })

  test.each([
    ['S'.repeat(73), {'a.txt': 'b'}, 'has a subject of 73 characters; the most is 72'],
    ['wip: half of it', {'a.txt': 'b'}, 'is not whole'],
    ['Half of it (in progress)', {'a.txt': 'b'}, 'is not whole'],
    ['A long one', {'a.txt': lines(60)}, 'changes 61 lines and says nothing of why'],
    [`One\n\n${'b'.repeat(81)}`, {'a.txt': 'b'}, 'has a line of more than 80 columns in its body'],
    ['Both', {'src/pricing/data/a.json': '{}', 'src/a.ts': 'a'}, 'prices are a commit of their own'],
  ])('names %.20s', (message, files, fault) => {
    commit(message, files)
    const {status, text} = judged(base)
    expect(status).toBe(1)
    expect(text).toContain(fault)
  })

  test('names a merge', () => {
    git('checkout', '-q', '-b', 'other')
    commit('Beside', {'b.txt': 'b'})
    git('checkout', '-q', 'main')
    commit('Before', {'c.txt': 'c'})
    git('merge', '-q', '--no-ff', '-m', 'Both', 'other')
    expect(judged(base).text).toContain('is a merge; rebase in its place')
  })

  test('judges nothing in a shallow clone', () => {
    commit('S'.repeat(80), {'a.txt': 'b'})
    const whole = repository
    repository = mkdtempSync(join(tmpdir(), 'commits-'))
    const cloned = spawnSync('git', ['clone', '-q', '--depth', '1', `file://${whole}`, repository])
    expect(cloned.status).toBe(0)
    expect(judged(base).text).toBe('commits: this clone is shallow; nothing was judged\n')
    rmSync(whole, {recursive: true, force: true})
  })

  test('judges nothing in a clone that does not reach the base', () => {
    expect(judged('0'.repeat(40))).toEqual({
      status: 0,
      text: 'commits: this clone does not have the commit that they are counted from; nothing was judged\n',
    })
  })
})
