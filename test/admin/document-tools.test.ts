import {execFile} from 'node:child_process'
import {cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'

// What others read documents with: two linters, and two generators of clients, whose clients are compiled strictly and
// used.

const run = promisify(execFile)
const FILES = join(import.meta.dirname, 'document-tools')
const FOLDER = join(import.meta.dirname, '../../.cross/document-tools')
const TOOLS = join(FOLDER, 'node_modules/.bin')
const LIMIT = {cwd: FOLDER, timeout: 240_000, maxBuffer: 1 << 26}

let gateway: TestGateway
const tool = (name: string, ...options: string[]) => run(join(TOOLS, name), options, LIMIT)

describe.skipIf(process.env.TEST_DOCUMENT !== 'required')('the document', {timeout: 300_000}, () => {
  beforeAll(async () => {
    mkdirSync(FOLDER, {recursive: true})
    for (const file of readdirSync(FILES)) cpSync(join(FILES, file), join(FOLDER, file.replace(/\.txt$/, '')))
    rmSync(join(FOLDER, 'generated'), {recursive: true, force: true})
    if (!existsSync(TOOLS)) await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], LIMIT)
    gateway = await startGateway()
    const document = await (await fetch(`${gateway.url}/v1/openapi.json`)).text()
    writeFileSync(join(FOLDER, 'openapi.json'), document)
  }, 300_000)
  afterAll(() => gateway?.close())

  test('has no error for Redocly', async () => {
    const {stdout} = await tool('redocly', 'lint', 'openapi.json', '--format=json').catch(
      fault => fault as {stdout: string},
    )
    const problems = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
      problems: {severity: string; ruleId: string; message: string}[]
    }
    expect(problems.problems.filter(({severity}) => severity === 'error')).toEqual([])
  })

  test('has no error for Spectral', async () => {
    const {stdout} = await tool('spectral', 'lint', 'openapi.json', '--ruleset=spectral.yaml', '--format=json').catch(
      fault => fault as {stdout: string},
    )
    const problems = JSON.parse(stdout.slice(stdout.indexOf('['))) as {
      severity: number
      code: string
      message: string
    }[]
    expect(problems.filter(({severity}) => severity === 0)).toEqual([])
  })

  test('is made into clients by openapi-typescript and hey-api, which compile strictly and list logs, keys, configs and spans', async () => {
    await tool('openapi-typescript', 'openapi.json', '-o', 'generated/schema.ts')
    await tool('openapi-ts')
    const {stdout: compiled} = await tool('tsc', '-p', 'tsconfig.json').catch(fault => fault as {stdout: string})
    expect(compiled.split('\n').slice(0, 10).join('\n')).toBe('')
    const reply = await gateway.chat(
      {model: 'demo', messages: [{role: 'user', content: 'hi'}]},
      {'x-gateway-provider': 'demo'},
    )
    expect(reply.status, await reply.text()).toBe(200)
    expect(await gateway.logs()).toHaveLength(1)
    const {stdout} = await run(process.execPath, ['client.ts', gateway.url, WORKSPACE_KEY], LIMIT)
    const {of_fetch, of_hey, modes} = JSON.parse(stdout) as {of_fetch: string[]; of_hey: string[]; modes: unknown[]}
    expect(of_fetch).toEqual(of_hey)
    expect(of_fetch.map(each => each.replace(/ \d+$/, ''))).toEqual(['logs', 'keys', 'configs', 'spans'])
    expect(of_fetch[0]).toBe('logs 1')
    expect(modes).toEqual([null, null])
  })
})
