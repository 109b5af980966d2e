import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {WORKSPACE_KEY} from '../support/gateway.ts'
import {startRouting} from '../support/routing.ts'
import {run} from './support.ts'

const files = {
  'greeting.yaml':
    'messages: [{role: user, content: "Hi {{name}}"}]\nparameters: {temperature: 0.5}\nmodel: gpt-4o-mini\n',
  'next.json': JSON.stringify({messages: [{role: 'user', content: 'Bye {{name}}'}], provider: 'main'}),
  'body.yaml': 'variables: {name: Bob}\ntemperature: 0\n',
  'rules.txt': 'Be kind.\n',
  'rules2.txt': 'Be brief.\n',
  'list.json': '[]',
  'key.txt': 'sk-0123456789',
}

describe('in a data directory', () => {
  let folder: string
  let data: string
  const here = (...argv: string[]) => run([...argv, '--data-dir', data], {files})
  const json = async (...argv: string[]) => JSON.parse((await here(...argv, '--json')).stdout)
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-cli-prompts-'))
    data = join(folder, 'data')
    await here('init')
    expect(await here('virtual-keys', 'create', 'main', '--kind', 'openai', '--key-file', 'key.txt')).toMatchObject({
      code: 0,
    })
  })
  afterAll(() => rmSync(folder, {recursive: true, force: true}))

  const create = async (...more: string[]) =>
    (
      await here('prompts', 'create', 'greeting', '--file', 'greeting.yaml', '--provider', 'main', '--quiet', ...more)
    ).stdout.trim()

  test('a prompt is created, changed, published, labelled, rendered and deleted', async () => {
    const slug = await create()
    expect(slug).toMatch(/^pp-greeting-[0-9a-f]{6}$/)
    expect(await json('prompts', 'show', slug)).toMatchObject({
      slug,
      prompt_version: 1,
      virtual_key: 'main',
      parameters: {temperature: 0.5},
    })
    const updated = await here('prompts', 'update', slug, '--file', 'next.json', '--description', 'goodbye')
    expect(updated).toMatchObject({code: 0, stdout: expect.stringContaining('It is not published')})
    expect(await json('prompts', 'show', `${slug}@latest`)).toMatchObject({prompt_version: 2, model: 'gpt-4o-mini'})
    const content = async (named: string, ...more: string[]) =>
      JSON.parse((await here('prompts', 'render', named, ...more)).stdout)
    expect(await content(slug, '--var', 'name=Ann')).toMatchObject({
      messages: [{content: 'Hi Ann'}],
      temperature: 0.5,
      model: 'gpt-4o-mini',
    })
    expect(await content(`${slug}@2`, '--file', 'body.yaml')).toMatchObject({
      messages: [{content: 'Bye Bob'}],
      temperature: 0,
    })
    expect(await here('prompts', 'label', slug, '2', 'staging')).toMatchObject({code: 0})
    expect(await content(`${slug}@staging`, '--var', 'name=a=b')).toMatchObject({messages: [{content: 'Bye a=b'}]})
    const versions = (await here('prompts', 'versions', slug)).stdout.trim().split('\n')
    expect([versions.length, versions[1]]).toEqual([3, expect.stringMatching(/staging.*goodbye/)])
    expect(await here('prompts', 'publish', slug, '2')).toMatchObject({
      code: 0,
      stdout: `Published version 2 of the prompt ${slug}.\n`,
    })
    expect(await json('prompts', 'show', slug)).toMatchObject({prompt_version: 2})
    expect(await here('prompts', 'label', slug, '2', '--none')).toMatchObject({code: 0})
    expect(await here('prompts', 'render', `${slug}@staging`)).toMatchObject({code: 3})
    expect((await here('prompts', 'list', '--search', 'greet')).stdout).toContain(slug)
    expect(await here('prompts', 'run', slug)).toMatchObject({code: 2, stderr: expect.stringContaining('--url')})
    expect(await here('prompts', 'delete', slug)).toMatchObject({code: 0})
    expect(await here('prompts', 'show', slug)).toMatchObject({code: 3})
  })

  test('partials, collections and labels', async () => {
    const rules = (await here('partials', 'create', 'rules', '--file', 'rules.txt', '--quiet')).stdout.trim()
    expect(await here('partials', 'update', rules, '--file', 'rules2.txt')).toMatchObject({code: 0})
    expect(await here('partials', 'publish', rules, '2')).toMatchObject({code: 0})
    expect(await json('partials', 'show', rules)).toMatchObject({version: 2, string: 'Be brief.'})
    expect((await here('partials', 'versions', rules)).stdout).toContain('Be kind.')
    expect((await here('partials', 'list')).stdout).toContain(rules)
    const outer = (await here('collections', 'create', 'outer', '--quiet')).stdout.trim()
    const inner = (await here('collections', 'create', 'inner', '--parent', outer, '--quiet')).stdout.trim()
    const slug = await create('--collection', inner)
    expect((await here('collections', 'list')).stdout).toContain(inner)
    expect(await here('collections', 'rename', inner, 'Inside')).toMatchObject({code: 0})
    expect(await json('collections', 'show', outer)).toMatchObject({child_collections: [{name: 'Inside'}]})
    expect(await here('collections', 'delete', inner)).toMatchObject({code: 4})
    await here('prompts', 'delete', slug)
    expect(await here('collections', 'delete', inner)).toMatchObject({code: 0})
    expect(await here('labels', 'create', 'canary')).toMatchObject({code: 0})
    expect(await here('labels', 'update', 'canary', '--name', 'bird')).toMatchObject({code: 0})
    expect((await here('labels', 'list')).stdout).toMatch(/bird[\s\S]*production/)
    expect(await json('labels', 'show', 'bird')).toMatchObject({name: 'bird', is_universal: false})
    expect(await here('labels', 'delete', 'bird')).toMatchObject({code: 0})
    expect(await here('labels', 'show', 'bird')).toMatchObject({code: 3})
    expect(await here('partials', 'delete', rules)).toMatchObject({code: 0})
  })

  test.each<[string, string[], RegExp]>([
    [
      'a file that holds a list',
      ['prompts', 'create', 'x', '--file', 'list.json', '--provider', 'main'],
      /should hold an object/,
    ],
    ['a prompt that says nothing', ['prompts', 'create', 'x', '--provider', 'main'], /messages with --file/],
    ['a version that is no number', ['prompts', 'publish', 'x', 'latest'], /VERSION/],
    ['a variable without a value', ['prompts', 'render', 'x', '--var', 'name'], /--var takes name=value/],
    ['no change', ['prompts', 'update', 'x'], /Nothing to change/],
    ['no label', ['prompts', 'label', 'x', '1'], /Name one label/],
  ])('%s is refused', async (_, words, reason) => {
    expect(await here(...words)).toMatchObject({code: 2, stderr: expect.stringMatching(reason)})
  })
})

test('a prompt is run by a gateway at a URL, and its answer shown', async () => {
  const routed = await startRouting()
  const there = (...argv: string[]) =>
    run(['prompts', 'run', ...argv, '--url', routed.gateway.url, '--api-key', WORKSPACE_KEY], {
      stdin: '{"temperature": 0}',
    })
  const told = await there(routed.prompt, '--var', 'text=hello', '--file', '-')
  expect([told.code, JSON.parse(routed.a.received[0]!.body.toString())]).toMatchObject([
    0,
    {messages: [{content: 'hello'}], temperature: 0, stream: false},
  ])
  const {choices} = JSON.parse((await there(routed.prompt, '--var', 'text=hello', '--json')).stdout)
  expect(told.stdout).toBe(`${choices[0].message.content}\n`)
  expect(await there('pp-none')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('No prompt is called pp-none'),
  })
  await routed.close()
})
