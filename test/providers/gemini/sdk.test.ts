import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import OpenAI from 'openai'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Json} from '../../../src/providers/translation.ts'
import {CASES, chatOf, followed} from './fixtures.ts'

/** Answers each call with the fixture that its model names, as a client is answered. */
const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', part => parts.push(part))
  request.on('end', () => {
    const {model, stream} = JSON.parse(Buffer.concat(parts).toString())
    const {events, said, context, asked, dialect} = CASES.find(({name}) => name === model)!
    if (!stream) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(chatOf(dialect).reply(said, context, asked).body))
      return
    }
    response.setHeader('content-type', 'text/event-stream')
    for (const chunk of followed([events!], context, asked, dialect).chunks)
      response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    response.end('data: [DONE]\n\n')
  })
})
let client: OpenAI

beforeAll(async () => {
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  client = new OpenAI({
    apiKey: 'key',
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    maxRetries: 0,
  })
})
afterAll(() => server.close())

const whole = CASES.filter(({said, events, finished}) => said && events && finished)

test.each(whole)('the openai library reads the same message of $name, plain and streamed', async ({name, answer}) => {
  const messages = [{role: 'user' as const, content: 'Hi'}]
  const plain = await client.chat.completions.create({model: name, messages})
  const runner = client.chat.completions.stream({model: name, messages})
  let text = ''
  runner.on('content', delta => {
    text += delta
  })
  const streamed = await runner.finalChatCompletion()
  const choices = answer.choices as readonly {message: Json; finish_reason: string}[]
  expect(plain.choices.map(({message: {content}}) => content)).toEqual(choices.map(({message}) => message.content))
  expect(streamed.choices.map(finished)).toEqual(plain.choices.map(finished))
  if (choices.length === 1 && name !== 'safety') expect(text).toBe(choices[0]!.message.content ?? '')
})

function finished({
  index,
  finish_reason,
  message,
}: {
  index: number
  finish_reason: string | null
  message: OpenAI.ChatCompletionMessage
}) {
  const calls = (message.tool_calls ?? []).map(call =>
    call.type === 'function' ? {id: call.id, name: call.function.name, args: call.function.arguments} : call,
  )
  return {index, finish_reason, refusal: message.refusal || null, calls}
}
