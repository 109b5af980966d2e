import {spawnSync} from 'node:child_process'
import {expect, test} from 'vitest'
import {run} from './support.ts'

const INSTALLED = {zsh: isInstalled('zsh'), fish: isInstalled('fish')}

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).status === 0
}

async function scriptOf(shell: string): Promise<string> {
  const {code, stdout, stderr} = await run(['completion', shell])
  expect({code, stderr}).toEqual({code: 0, stderr: ''})
  return stdout
}

/** What bash would offer for the last of `words`. */
function offered(script: string, words: readonly string[]): string[] {
  const quoted = words.map(word => `'${word}'`).join(' ')
  const asked = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _gateway; printf '%s\\n' "\${COMPREPLY[@]}"`
  const {status, stdout, stderr} = spawnSync('bash', ['-c', `${script}\n${asked}`], {encoding: 'utf8'})
  expect({status, stderr}).toEqual({status: 0, stderr: ''})
  return stdout.split('\n').filter(Boolean)
}

test('the script of bash is valid, and offers the commands and options of the place', async () => {
  const script = await scriptOf('bash')
  expect(spawnSync('bash', ['-n'], {input: script, encoding: 'utf8'})).toMatchObject({status: 0, stderr: ''})
  expect(offered(script, ['gateway', 'ke'])).toEqual(['keys'])
  expect(offered(script, ['gateway', 'keys', ''])).toEqual([
    'create',
    'list',
    'show',
    'self',
    'update',
    'rotate',
    'delete',
  ])
  expect(offered(script, ['gateway', 'keys', 'create', '--ex'])).toEqual(['--expires'])
  expect(offered(script, ['gateway', 'keys', 'ls', '--li'])).toEqual(['--limit'])
  expect(offered(script, ['gateway', '--data-dir', '/srv', 'keys', 'create', 'blue', '--j'])).toEqual(['--json'])
  expect(offered(script, ['gateway', 'serve', '--drain'])).toEqual(['--drain-timeout-ms'])
  expect(offered(script, ['gateway', 'completion', ''])).toEqual(['bash', 'zsh', 'fish'])
  // The value of an option is a file as far as we know, and a name that happens to be a command's is none.
  expect(offered(script, ['gateway', 'serve', '--data-dir', ''])).toEqual([])
  expect(offered(script, ['gateway', 'keys', 'show', 'create', '--w'])).toEqual([])
})

test('the scripts of zsh and fish know every command and what it is for', async () => {
  for (const shell of ['zsh', 'fish']) {
    const script = await scriptOf(shell)
    for (const words of [
      'virtual-keys',
      'Create an API key; the key itself is shown this once',
      'Create an integration: the organisation',
      'token-budget',
    ])
      expect(script).toContain(words)
    expect(script).not.toContain('undefined')
  }
})

test.skipIf(!INSTALLED.zsh)('the script of zsh is valid', async () => {
  expect(spawnSync('zsh', ['-n'], {input: await scriptOf('zsh'), encoding: 'utf8'})).toMatchObject({
    status: 0,
    stderr: '',
  })
})

test.skipIf(!INSTALLED.fish)('the script of fish is valid', async () => {
  expect(spawnSync('fish', ['-n'], {input: await scriptOf('fish'), encoding: 'utf8'})).toMatchObject({
    status: 0,
    stderr: '',
  })
})

test('another shell is refused', async () => {
  expect(await run(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Allowed choices are bash, zsh, fish.'),
  })
})
