import {spawnSync} from 'node:child_process'
import {readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import {describe, expect, test} from 'vitest'
import {buildProgram} from '../../cli/program.ts'
import {flagOptions} from '../../src/settings/index.ts'
import {everyCommand} from './examples/program.ts'
import {run} from './support.ts'

/** The words of every command that does something. */
const LEAVES = leaves(buildProgram(flagOptions()), [])

function leaves(command: ReturnType<typeof buildProgram>, path: readonly string[]): string[][] {
  const below = command.commands
  return below.length ? below.flatMap(each => leaves(each, [...path, each.name()])) : [[...path]]
}

test('these are the commands', () => {
  expect(LEAVES.map(words => words.join(' '))).toEqual([
    'serve',
    'init',
    'migrate',
    'config show',
    ...['init', 'create', 'renew', 'list', 'show', 'trust'].map(verb => `certs ${verb}`),
    'login',
    'logout',
    ...['list', 'use', 'show', 'delete'].map(verb => `contexts ${verb}`),
    ...['create', 'list', 'show', 'self', 'update', 'rotate', 'delete'].map(verb => `keys ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete', 'settings'].map(verb => `workspaces ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete', 'catalog', 'capabilities'].map(verb => `providers ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete', 'models', 'workspaces'].map(verb => `integrations ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete'].map(verb => `virtual-keys ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete', 'versions', 'lint', 'explain', 'test'].map(
      verb => `configs ${verb}`,
    ),
    ...['create', 'list', 'show', 'update', 'delete', 'versions', 'defaults', 'servers', 'test', 'eval'].map(
      verb => `guardrails ${verb}`,
    ),
    'guardrails coverage',
    ...['create', 'list', 'show', 'update', 'delete', 'test'].map(verb => `secret-references ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete', 'workspaces', 'capabilities', 'metadata'].map(
      verb => `mcp-integrations ${verb}`,
    ),
    ...['create', 'list', 'show', 'update', 'delete', 'capabilities', 'metadata', 'users', 'connections'].map(
      verb => `mcp-servers ${verb}`,
    ),
    ...['may-use', 'set-tokens', 'client'].map(verb => `mcp-servers ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete'].map(verb => `mcp-oauth-clients ${verb}`),
    ...['add', 'tools', 'call', 'connect', 'logs', 'test', 'sync', 'diff', 'approve'].map(verb => `mcp ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete'].map(verb => `deployments ${verb}`),
    ...['create', 'list', 'show', 'update', 'publish', 'label', 'versions', 'render', 'run', 'delete'].map(
      verb => `prompts ${verb}`,
    ),
    ...['create', 'list', 'show', 'update', 'publish', 'versions', 'delete'].map(verb => `partials ${verb}`),
    ...['create', 'list', 'show', 'rename', 'delete'].map(verb => `collections ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete'].map(verb => `labels ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete', 'entities', 'reset'].map(verb => `policies usage ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete', 'entities'].map(verb => `policies rate ${verb}`),
    'limits status',
    'logs list',
    'logs show',
    'logs tail',
    'logs by',
    ...['traces', 'trace', 'spans'].map(word => `logs ${word}`),
    ...['run', 'create', 'list', 'show', 'change', 'start', 'cancel', 'download'].map(verb => `logs export ${verb}`),
    ...['save', 'list', 'show', 'change', 'delete'].map(verb => `logs filters ${verb}`),
    'logs insert',
    ...['requests', 'cost', 'tokens', 'latency', 'users', 'user-requests'].map(word => `analytics ${word}`),
    ...['errors', 'error-rate', 'error-stacks', 'error-codes', 'rescued', 'cache-hits', 'cache-latency'].map(
      word => `analytics ${word}`,
    ),
    ...['feedback', 'feedback-scores', 'feedback-weighted', 'feedback-models', 'cache'].map(
      word => `analytics ${word}`,
    ),
    ...['by', 'by-user', 'by-model', 'by-metadata'].map(word => `analytics ${word}`),
    'feedback add',
    'feedback change',
    ...['show', 'clear', 'eval', 'pairs'].map(verb => `cache ${verb}`),
    'replay',
    'usage',
    'ledger verify',
    ...['show', 'unpriced', 'diff', 'sync', 'set', 'unset', 'revisions', 'rollback'].map(verb => `pricing ${verb}`),
    ...['keygen', 'create', 'verify', 'apply', 'rollback'].map(verb => `bundle ${verb}`),
    'workers',
    'export',
    'apply',
    'import',
    ...['create', 'list', 'show', 'update'].map(verb => `organisations ${verb}`),
    ...['create', 'list', 'show', 'update', 'delete', 'set-password'].map(verb => `users ${verb}`),
    ...['create', 'list', 'show', 'delete', 'resend', 'accept'].map(verb => `invites ${verb}`),
    ...['add', 'list', 'show', 'update', 'remove'].map(verb => `members ${verb}`),
    ...['map', 'list', 'unmap'].map(verb => `groups ${verb}`),
    ...['create', 'list', 'revoke'].map(verb => `sessions ${verb}`),
    ...['list', 'show', 'create', 'update', 'delete', 'test', 'check', 'require', 'relink'].map(verb => `sso ${verb}`),
    ...['list', 'link', 'delete'].map(verb => `identities ${verb}`),
    ...['show', 'set', 'test'].map(verb => `jwt ${verb}`),
    ...['create', 'verify', 'list', 'update', 'delete'].map(verb => `domains ${verb}`),
    ...['create', 'list', 'delete'].map(verb => `scim tokens ${verb}`),
    'scim groups',
    'scopes list',
    ...['list', 'verify', 'export'].map(verb => `audit ${verb}`),
    'api',
    'completion',
    'version',
  ])
})

test.each(LEAVES.map(words => words.join(' ')))('%s has help with an example of itself', async words => {
  const {code, stdout, stderr} = await run([...words.split(' '), '--help'])
  expect({code, stderr}).toEqual({code: 0, stderr: ''})
  expect(stdout).toMatch(new RegExp(`\\n {2}\\$ .*gateway ${words}`))
  expect(stdout).toContain('--json')
})

test('docs/cli.md names every command', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/cli.md'), 'utf8')
  expect(LEAVES.map(words => `\`gateway ${words.join(' ')}`).filter(words => !page.includes(words))).toEqual([])
})

test('the help of serve lists the settings by group, and no secret is among its flags', async () => {
  const {stdout} = await run(['serve', '--help'])
  for (const words of [
    'Listening:',
    '--port <value>',
    'Timeouts and sizes:',
    '--drain-timeout-ms <value>',
    '--tls-key-file <value>',
  ])
    expect(stdout).toContain(words)
  expect(stdout).not.toMatch(/--tls-key <|--sealing-key </)
})

test.each([
  ['help keys create', 'keys create --help'],
  ['keys help create', 'keys create --help'],
  ['help policies usage create', 'policies usage create --help'],
  ['policies help usage create', 'policies usage create --help'],
  ['policies usage help create', 'policies usage create --help'],
  ['--data-dir help help keys', 'keys --help'],
  ['keys help', 'keys --help'],
  ['help serve', 'serve --help'],
  ['help keys ls', 'keys list --help'],
  ['help', '--help'],
])('gateway %s is gateway %s', async (line, same) => {
  const shown = await run(line.split(' '))
  expect(shown).toEqual(await run(same.split(' ')))
  expect(shown).toMatchObject({code: 0, stderr: ''})
})

test.each([
  ['help keys craete', "gateway: Unknown command 'craete'. Did you mean create? See: gateway keys --help\n"],
  ['help kyes', "gateway: Unknown command 'kyes'. Did you mean keys? See: gateway --help\n"],
  ['help keys create blue', "gateway: Unknown command 'blue'. See: gateway keys create --help\n"],
  ['help __proto__', "gateway: Unknown command '__proto__'. See: gateway --help\n"],
])('gateway %s is refused with the next step', async (line, stderr) => {
  expect(await run(line.split(' '))).toEqual({code: 2, stdout: '', stderr})
})

test.each(['', 'keys', 'policies usage'])('the help of "%s" has its commands before the options', async words => {
  const {stdout} = await run([...words.split(' ').filter(Boolean), '--help'])
  const headings = [...stdout.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading!)
  const options = headings.filter(heading => heading.endsWith('ptions'))
  expect(options.length).toBeGreaterThan(0)
  expect(headings.filter(heading => heading !== 'Examples').slice(-options.length)).toEqual(options)
})

test('ls is list, and rm is delete or remove', async () => {
  const all = everyCommand().filter(({command}) => ['list', 'delete', 'remove'].includes(command.name()))
  expect(all.length).toBeGreaterThan(40)
  for (const {words, command} of all)
    expect({words, aliases: command.aliases()}).toEqual({words, aliases: [command.name() === 'list' ? 'ls' : 'rm']})
  expect((await run(['keys', 'ls', '--help'])).stdout).toBe((await run(['keys', 'list', '--help'])).stdout)
})

test('no command is an error with the help on stderr', async () => {
  const {code, stdout, stderr} = await run([])
  expect({code, stdout}).toEqual({code: 2, stdout: ''})
  expect(stderr).toContain('Usage: gateway')
})

describe('a wrong command line', () => {
  test.each([
    [['keys', 'craete'], "gateway: Unknown command 'craete'. Did you mean create? See: gateway keys --help\n"],
    [
      ['keys', 'list', '--lmit', '5'],
      "gateway: Unknown option '--lmit'. Did you mean --limit? See: gateway keys list --help\n",
    ],
    [['keys', 'create'], "gateway: Missing required argument 'name'. See: gateway keys create --help\n"],
    [
      ['integrations', 'create', 'x'],
      "gateway: Required option '--kind <provider>' not specified. See: gateway integrations create --help\n",
    ],
    [
      ['providers', 'create', 'x', '--kind', 'a', '--integration', 'b'],
      "gateway: Option '--kind <provider>' cannot be used with option '--integration <slug>'. See: gateway providers create --help\n",
    ],
  ])('%j is refused with the next step', async (argv, stderr) => {
    expect(await run(argv)).toEqual({code: 2, stdout: '', stderr})
  })

  test('is an object on stderr with --json', async () => {
    const {code, stdout, stderr} = await run(['keys', 'craete', '--json'])
    expect({code, stdout}).toEqual({code: 2, stdout: ''})
    expect(JSON.parse(stderr)).toEqual({
      error: {
        message: "Unknown command 'craete'. Did you mean create? See: gateway keys --help",
        code: 'usage',
        status: null,
      },
    })
  })

  test.each([
    ['an unknown option', ['keys', 'list', '--kei=sk-canary-0123456789']],
    ['a word too many', ['keys', 'create', 'blue', 'sk-canary-0123456789']],
  ])('%s does not echo what may be a key', async (_, argv) => {
    const {code, stderr} = await run(argv)
    expect(code).toBe(2)
    expect(stderr).not.toContain('canary')
  })
})

test('help and completion load neither the server nor the database nor the client', () => {
  const script = `
    const {registerHooks} = await import('node:module')
    const loaded = []
    registerHooks({load: (url, context, next) => { loaded.push(url); return next(url, context) }})
    const {main} = await import('./cli/index.ts')
    await main(['--help'])
    await main(['completion', 'bash'])
    await main(['keys', 'create', '--help'])
    const heavy = loaded.filter(url => /node_modules\\/(fastify|undici|better-sqlite3|kysely|pg|pino)\\//.test(url))
    console.error(JSON.stringify(heavy))`
  const {stderr, status} = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    cwd: `${import.meta.dirname}/../..`,
  })
  expect({status, heavy: stderr.trim()}).toEqual({status: 0, heavy: '[]'})
})
