import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Replay} from '../../src/schema/replays.ts'
import {CHAT, type RoutingSetup, startRouting, statuses, when} from '../support/routing.ts'

let routed: RoutingSetup
let workspace_id: string

beforeAll(async () => {
  routed = await startRouting()
  workspace_id = (await routed.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id
})
afterAll(() => routed.close())

const replay = (config: unknown) =>
  routed.gateway.admin<Replay>('POST', '/configs/replay', {config, since: '2020-01-01T00:00:00Z', workspace_id})

test('under the config that they were made with, calls end where they ended; under another, where it says', async () => {
  const config = {
    strategy: {
      mode: 'conditional',
      conditions: [when({'metadata.plan': 'pro'}, 'large'), when({'params.max_tokens': {$gt: 100}}, 'long')],
      default: 'small',
    },
    targets: [
      {
        name: 'large',
        strategy: {mode: 'fallback'},
        targets: [{provider: '@a'}, {provider: '@claude', override_params: {model: 'claude-sonnet-4-5'}}],
      },
      {name: 'long', provider: '@b', override_params: {model: 'gpt-4o'}},
      {name: 'small', provider: '@c', cache: 'simple', request_timeout: 5000},
    ],
  }
  const slug = await routed.save(config)
  const pro = {'x-gateway-metadata': '{"plan":"pro"}'}
  routed.a.answer(statuses([503, 200, 503]))
  routed.b.answer(statuses([200, 500]))
  const paths = []
  for (const asked of [
    {headers: pro},
    {headers: pro},
    {headers: pro},
    {body: {...CHAT, max_tokens: 500}},
    {body: {...CHAT, max_tokens: 500}},
    {},
    {},
  ])
    paths.push((await routed.ask(slug, asked)).path)
  expect(paths).toEqual([
    'config.targets[0].targets[1]',
    'config.targets[0].targets[0]',
    'config.targets[0].targets[1]',
    'config.targets[1]',
    'config.targets[1]',
    'config.targets[2]',
    'config.targets[2]',
  ])
  expect((await routed.ask({...config, strategy: {...config.strategy, default: undefined}})).status).toBe(400)
  const response = await replay(slug)
  expect(response).toMatchObject({
    calls: 8,
    changed: 1,
    left_out: 0,
    without_body: 0,
    moves: [{from: 'refused 400', to: '@c/gpt-4o-mini', calls: 1}],
  })
  expect(await replay(slug)).toEqual(response)
  const sums = ({moves}: Replay) => moves.map(({from, to, calls}) => [from, to, calls])
  expect(sums(await replay({provider: '@c'}))).toEqual([
    // without its body a call is taken to have asked for what its first target was asked
    ['@b/gpt-4o', '@c/gpt-4o', 2],
    ['@claude/claude-sonnet-4-5', '@c/gpt-4o-mini', 2],
    ['@a/gpt-4o-mini', '@c/gpt-4o-mini', 1],
    ['refused 400', '@c/gpt-4o-mini', 1],
  ])
})
