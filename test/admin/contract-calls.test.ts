import {randomBytes} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {KINDS, onServer} from '../support/stores.ts'
import {CHAT_PARAMETERS, FUNCTION, MESSAGES, TEXT_PARAMETERS, TOOL, TOOL_CHOICE} from './contract/bodies.ts'
import {readFacts} from './contract/facts.ts'
import {differences} from './contract/fits.ts'
import {AS_GRANTED, against} from './contract/granted.ts'

const COMPLETIONS = 'POST /prompts/{promptId}/completions'
const facts = readFacts(readFileSync(join(import.meta.dirname, 'contract/reference.txt'), 'utf8'))
const fact = facts.operations.find(({operation}) => operation === COMPLETIONS)!

/** What a provider says, with every member that the reference has. */
const usage = {
  completion_tokens: 1,
  prompt_tokens: 2,
  total_tokens: 3,
  completion_tokens_details: {},
  prompt_tokens_details: {},
}
const shared = {id: 'c-1', created: 1, model: 'gpt-4o', system_fingerprint: 'fp-1', usage}
const CHAT = {
  ...shared,
  object: 'chat.completion',
  choices: [{finish_reason: 'stop', index: 0, message: {role: 'assistant', content: 'Hi'}, logprobs: null}],
}
const TEXT = {
  ...shared,
  object: 'text_completion',
  choices: [{finish_reason: 'stop', index: 0, text: 'Hi', logprobs: null}],
}

/** The one operation of administration that is a call of the data plane, and those that are not there yet. */
describe.each(KINDS)('calls of the contract on %s', kind => {
  const name = `gateway_test_${randomBytes(6).toString('hex')}`
  const url =
    kind === 'postgres' ? Object.assign(new URL(process.env.TEST_DATABASE_URL!), {pathname: `/${name}`}).href : ''
  let gateway: TestGateway
  let provider: FakeProvider
  const prompts: {chat?: string; text?: string} = {}
  beforeAll(async () => {
    if (url) await onServer(`create database ${name}`)
    gateway = await startGateway(
      url ? {DATABASE_URL: url, GATEWAY_SEALING_KEY: Buffer.alloc(32, 5).toString('base64')} : {},
    )
    provider = await fakeProvider(({path}, response) =>
      json(response, path.endsWith('/chat/completions') ? CHAT : TEXT),
    )
    await gateway.provider('a', 'openai', provider.url)
    const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const {data} = await gateway.admin<{data: {id: string}[]}>('GET', `/collections?workspace_id=${workspace!.id}`)
    const save = async (string: string) => {
      const body = {
        name: 'Saved',
        collection_id: data[0]!.id,
        string,
        parameters: {},
        virtual_key: 'a',
        model: 'gpt-4o',
      }
      return (await gateway.admin<{slug: string}>('POST', '/prompts', body)).slug
    }
    prompts.chat = await save('[{"role":"user","content":"Hi"}]')
    prompts.text = await save('Hi')
  }, 60_000)
  afterAll(async () => {
    await gateway.close()
    await provider.close()
    if (url) await onServer(`drop database ${name} with (force)`)
  })

  const call = async (prompt: string, body: object, key = WORKSPACE_KEY) => {
    const headers = {'content-type': 'application/json', 'x-gateway-api-key': key}
    const reply = await gateway.call(`/v1/prompts/${prompt}/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers,
    })
    return {status: reply.status, body: (await reply.json()) as Record<string, unknown> & {data?: {errorCode: string}}}
  }

  test(COMPLETIONS, async () => {
    const chat = {
      ...{variables: {name: 'Ada'}, ...CHAT_PARAMETERS, messages: MESSAGES.slice(0, 1), model: 'gpt-4o'},
      ...{tools: [TOOL], tool_choice: TOOL_CHOICE, functions: [FUNCTION]},
    }
    const text = {variables: {}, ...TEXT_PARAMETERS, prompt: 'Hello'}
    const replies = [await call(prompts.chat!, chat), await call(prompts.text!, text)]
    expect(replies.map(({status}) => status)).toEqual([fact.status, fact.status])
    const sent = provider.received.flatMap(({body}) => Object.keys(JSON.parse(body.toString()) as object))
    const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
      ...{name: 'Lesser', workspace_id: await workspaceId(), scopes: ['prompts.render']},
    })
    const refused = await call(prompts.chat!, {variables: {}}, key)
    expect([refused.status, refused.body.data?.errorCode]).toEqual([403, 'AB03'])
    const {variables: _, ...lesser} = chat
    const without = await call(prompts.chat!, lesser)
    expect(JSON.stringify(without.body)).toContain('variables')
    expect([
      without.status,
      against(COMPLETIONS, [
        ...fact.body
          .filter(each => each.name !== 'variables' && !sent.includes(each.name))
          .map(each => `body ${each.name}: not taken`),
        ...fact.reply.flatMap(field =>
          differences(
            field,
            replies.map(({body}) => ({body})),
          ).map(how => `reply ${field.name}: ${how}`),
        ),
      ]),
    ]).toEqual([400, AS_GRANTED])
  })

  async function workspaceId(): Promise<string> {
    return (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id
  }
})
