import {afterAll, beforeAll, expect, test} from 'vitest'
import {list} from '../../src/providers/registry.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, type Heard, json} from '../support/provider.ts'

const ENGINES = list().filter(({is_engine, endpoints}) => is_engine && (endpoints === 'all' || endpoints.includes('chatComplete')))
/** Of so many words an engine makes where nothing bounds it. */
const UNBOUNDED = 2018

let provider: FakeProvider
let gateway: TestGateway
/** The one member that the engine reads. */
let reads = 'max_tokens'
beforeAll(async () => {
  provider = await fakeProvider((heard: Heard, response) => {
    const body = JSON.parse(heard.body.toString()) as Record<string, number | undefined>
    const completion_tokens = body[reads] ?? UNBOUNDED
    const choice = {index: 0, message: {role: 'assistant', content: 'Hi.'}, finish_reason: 'length'}
    const usage = {prompt_tokens: 9, completion_tokens, total_tokens: 9 + completion_tokens}
    json(response, {id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage})
  })
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  for (const {slug} of ENGINES) await gateway.provider(slug, slug, provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const ways = ENGINES.flatMap(({slug}) => ['max_tokens', 'max_completion_tokens'].map(member => [slug, member] as const))
test.each(ways)('O1: a limit of Anthropic’s clients reaches %s, which reads %s alone', async (slug, member) => {
  reads = member
  const messages = [{role: 'user', content: 'hi'}]
  const reply = await gateway.call('/v1/messages', {
    method: 'POST',
    headers: {'content-type': 'application/json', 'x-gateway-provider': `@${slug}`},
    body: JSON.stringify({model: 'm', max_tokens: 5, messages}),
  })
  const body = (await reply.json()) as {usage?: {output_tokens: number}}
  expect([reply.status, body.usage?.output_tokens], JSON.stringify(body)).toEqual([200, 5])
})

test('there are engines, and every one of them is played', () => {
  expect(ENGINES.length).toBeGreaterThan(20)
})
