import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {fakeGateway, NOW_MS, ONE_WORKSPACE, run, WORKSPACE} from './support.ts'

const guardrail = {
  checks: [{id: 'default.contains', parameters: {words: ['internal'], operator: 'none'}}],
  actions: {deny: true},
}
const chat = (content: string) => ({model: 'gpt-4o-mini', messages: [{role: 'user', content}]})
const files = {
  'guardrail.yaml': 'checks: [{id: contains, parameters: {words: [internal], operator: none}}]\n',
  'guardrail.json': JSON.stringify(guardrail),
  'wrong.json': '{"checks": [{"id": "contain"}]}',
  'list.json': '[]',
  'bad.json': JSON.stringify(chat('an internal word')),
  'good.json': JSON.stringify({
    path: '/v1/messages',
    headers: {'x-gateway-metadata': '{"a":"b"}'},
    body: chat('a word'),
  }),
  'answer.yaml': 'content: [{type: text, text: an internal answer}]\n',
}

describe('in a data directory', () => {
  let folder: string
  let data: string
  const here = (...argv: string[]) => run([...argv, '--data-dir', data], {files})
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-cli-guardrails-'))
    data = join(folder, 'data')
    await here('init')
  })
  afterAll(() => rmSync(folder, {recursive: true, force: true}))

  const create = async (...more: string[]) =>
    (await here('guardrails', 'create', 'words', '--quiet', ...more)).stdout.trim()

  test('coverage says what of each operation is judged, what is not, and why', async () => {
    const slug = await create('--file', 'guardrail.yaml')
    const {code, stdout} = await here('guardrails', 'coverage', slug)
    const lines = stdout.trim().split('\n')
    const line = (...words: string[]) => lines.find(each => words.every(word => each.includes(word)))
    expect([code, lines[0]]).toEqual([0, expect.stringMatching(/^OPERATION +PATH +INPUT +OUTPUT/)])
    expect(line('chatComplete', 'contains')).toMatch(/default\.contains +default\.contains$/)
    expect(line('listFiles')).toMatch(/nothing \(no body\) +nothing \(no text; every_route judges it\)$/)
    expect(lines.at(-1)).toBe(
      'Calls with other files, sound, or bodies over 16 MB pass, and the log says skipped (UNREADABLE_BODIES=allow).',
    )
    const any = await here('guardrails', 'coverage')
    expect(any.stdout).toContain('default.contains; skips default.wordCount (asks for more than strings)')
    expect(await here('guardrails', 'coverage', 'pg-nowhere')).toMatchObject({code: 3})
    await here('guardrails', 'delete', slug)
  })

  test('one is created, listed, shown, changed, put among defaults, and deleted', async () => {
    const slug = await create('--file', 'guardrail.yaml')
    expect(slug).toMatch(/^pg-words-[0-9a-f]{6}$/)
    const shown = async () => JSON.parse((await here('guardrails', 'show', slug, '--json')).stdout)
    expect(await shown()).toMatchObject({slug, name: 'words', checks: [{id: 'contains'}], actions: {deny: false}})
    expect(await here('guardrails', 'update', slug, '--file', 'guardrail.json', '--name', 'Words')).toEqual({
      ...{code: 0, stdout: `Changed the guardrail ${slug}.\n`, stderr: ''},
    })
    expect(await shown()).toMatchObject({name: 'Words', checks: [{id: 'default.contains'}], actions: {deny: true}})
    const versions = await here('guardrails', 'versions', slug)
    expect(versions.stdout.trim().split('\n')).toHaveLength(3)
    expect((await here('guardrails', 'list')).stdout).toContain(slug)
    const update = (...more: string[]) => here('workspaces', 'update', 'default', ...more)
    // by its name as by its slug
    expect(await update('--input-guardrails', 'Words', '--output-guardrails', slug)).toMatchObject({code: 0})
    const defaults = async () => JSON.parse((await here('workspaces', 'show', 'default', '--json')).stdout).defaults
    expect(await defaults()).toMatchObject({input_guardrails: [slug], output_guardrails: [slug]})
    const remove = () => here('guardrails', 'delete', slug)
    expect(await remove()).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('the workspace "Shared Workspace" naming it'),
    })
    expect(await update('--no-input-guardrails', '--no-output-guardrails')).toMatchObject({code: 0})
    expect(await defaults()).toMatchObject({input_guardrails: [], output_guardrails: []})
    expect(await remove()).toMatchObject({code: 0})
    expect(await here('guardrails', 'show', slug)).toMatchObject({code: 3})
    expect(await update('--input-guardrails', 'Words')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/gateway guardrails list .*shows what there is\./),
    })
  })

  test('--shared makes one of the organisation', async () => {
    const slug = await create('--file', 'guardrail.json', '--shared')
    expect(JSON.parse((await here('guardrails', 'show', slug, '--json')).stdout)).toMatchObject({workspace_id: null})
    const defaults = async (...more: string[]) =>
      JSON.parse((await here('guardrails', 'defaults', '--json', ...more)).stdout)
    expect(await defaults('--input-guardrails', slug)).toMatchObject({input_guardrails: [slug], output_guardrails: []})
    expect(await defaults()).toMatchObject({input_guardrails: [slug]})
    expect(await defaults('--no-input-guardrails')).toMatchObject({input_guardrails: []})
    expect(
      await here('guardrails', 'create', 'x', '--file', 'guardrail.json', '--shared', '--workspace', 'default'),
    ).toMatchObject({
      code: 2,
    })
  })

  test.each<[string, string[], number, string]>([
    ['a check that is not known', ['create', 'x', '--file', 'wrong.json'], 2, 'did you mean default.contains?'],
    ['a file that holds no object', ['create', 'x', '--file', 'list.json'], 2, 'should hold an object'],
    ['no file', ['create', 'x', '--file', 'none.json'], 2, 'cannot be read'],
    ['nothing to change', ['update', 'x'], 2, 'Nothing to change was said.'],
    ['one that is not there', ['update', 'pg-none', '--name', 'y'], 3, 'No guardrail is known by this id.'],
    ['no guardrail to test', ['test', '--file', 'bad.json'], 2, 'Name one guardrail'],
    ['two of them', ['test', 'x', '--file-guardrail', 'guardrail.json', '--file', 'bad.json'], 2, 'Name one guardrail'],
    [
      'a saved one that is not there',
      ['test', 'pg-none', '--file', 'bad.json'],
      3,
      'No guardrail is known by this id.',
    ],
    [
      'a side that is none',
      ['eval', '--file-guardrail', 'guardrail.json', '--since', '1d', '--side', 'up'],
      2,
      'is no side',
    ],
    ['a time to come', ['eval', 'x', '--since', '2030-01-01'], 2, 'is no time in the past'],
  ])('%s is refused', async (_, argv, code, sentence) => {
    const said = await here('guardrails', ...argv)
    expect(said).toMatchObject({code, stdout: ''})
    expect(said.stderr).toContain(sentence)
  })

  test('test exits with 1 when the call would be denied, and with 0 when not', async () => {
    const tested = (...more: string[]) => here('guardrails', 'test', '--file-guardrail', 'guardrail.json', ...more)
    const denied = await tested('--file', 'bad.json')
    expect(denied).toMatchObject({code: 1, stderr: 'gateway: The guardrail denies it.\n'})
    expect(denied.stdout).toMatch(
      /^input: denied\n {2}✗ default\.contains \([\d.]+ ms\) The text has "internal"\. "an internal word"\n$/,
    )
    expect((await tested('--file', 'good.json')).stdout).toMatch(/^input: passed\n/)
    const answer = await tested('--file', 'good.json', '--response', 'answer.yaml', '--json')
    expect(answer.code).toBe(1)
    expect(JSON.parse(answer.stdout)).toMatchObject({
      is_denied: true,
      sides: [{outcome: 'passed'}, {outcome: 'denied'}],
    })
    expect(JSON.parse(answer.stderr)).toMatchObject({error: {code: 'guardrail_denied'}})
    expect(await here('guardrails', 'test', '--file-guardrail', 'guardrail.yaml', '--file', 'bad.json')).toMatchObject({
      ...{code: 0, stdout: expect.stringMatching(/^input: failed\n/)},
    })
    expect((await tested('--file', 'bad.json', '--quiet')).stdout).toBe('input: denied\n')
  })
})

describe('pages of an evaluation', () => {
  const counts = {passed: 0, failed: 0, errored: 0, skipped: 0, transformed: 0}
  const example = (log_id: string) => ({log_id, explanation: 'It has it.', excerpt: 'an internal\u001b[31m word'})
  const check = {side: 'input', index: 0, id: 'default.contains', ...counts}
  const page = (of: object) => ({
    ...{object: 'guardrail_evaluation', guardrail: {id: null, slug: 'pg-a', version_id: null}},
    ...{
      calls: 100,
      judged: 90,
      failed: 10,
      denied: 5,
      transformed: 0,
      left_out: 10,
      without_body: 0,
      checks: [],
      next: null,
    },
    ...of,
  })
  const PAGES = [
    page({
      checks: [{...check, failed: 10, passed: 80, examples: ['1', '2'].map(example)}],
      next: '2026-03-03T00:00:00.000Z',
    }),
    page({checks: [], next: '2026-03-02T00:00:00.000Z', denied: 0, failed: 0}),
    page({
      checks: [
        {...check, failed: 1, errored: 2, examples: ['3', '4'].map(example)},
        {...check, side: 'output', passed: 3, examples: []},
      ],
    }),
  ]
  const asked = (argv: string[]) => {
    const {transport, requests} = fakeGateway({...ONE_WORKSPACE, 'POST /guardrails/evaluate': [...PAGES]})
    return run(['guardrails', 'eval', 'pg-a', '--since', '7d', ...argv], {transport}).then(said => ({said, requests}))
  }

  test('are asked one after the other and added up', async () => {
    const {said, requests} = await asked(['--json', '--side', 'input'])
    const whole = JSON.parse(said.stdout)
    expect(whole).toEqual({
      ...{object: 'guardrail_evaluation', guardrail: {id: null, slug: 'pg-a', version_id: null}},
      ...{calls: 300, judged: 270, failed: 20, denied: 10, transformed: 0, left_out: 30, without_body: 0},
      checks: [
        {...check, passed: 80, failed: 11, errored: 2, examples: ['1', '2', '3'].map(example)},
        {...check, side: 'output', passed: 3, examples: []},
      ],
    })
    const since = new Date(NOW_MS - 7 * 86_400_000).toISOString()
    const body = {guardrail: 'pg-a', since, sides: ['input'], workspace_id: WORKSPACE.slug, limit: 100}
    expect(requests.slice(1).map(request => request.body)).toEqual([
      body,
      {...body, before: '2026-03-03T00:00:00.000Z'},
      {...body, before: '2026-03-02T00:00:00.000Z'},
    ])
  })

  test('are told as a table, examples and a sentence; what comes from a log cannot steer a terminal', async () => {
    const {said} = await asked(['--limit', '150'])
    expect(said.code).toBe(0)
    expect(said.stdout).toContain('input default.contains 1 It has it. "an internal')
    expect(said.stdout).not.toContain('\u001b[31m')
    expect(said.stderr).toBe(
      '5 of 180 judged calls would be denied (2.8 %); 5 would fail and go on; 20 of 200 are of routes without a text.\n',
    )
  })
})
